"""Functions that move, pick, reduce and resize, made by the TensorFlow converter and compared with LiteRT."""

from __future__ import annotations

import pytest

from tests.conformance import tf_models
from tests.conformance.tf_models import Spec, agree

SPECS = [Spec((1, 6, 8, 4), low=-2.0, high=2.0)]
BORDER = [[0, 0], [1, 2], [2, 1], [0, 0]]
FUNCTIONS = {
    "resize": lambda tf, x: tf.image.resize(x, (9, 5)),
    "resize smaller": lambda tf, x: tf.image.resize(x, (4, 3)),
    "resize nearest": lambda tf, x: tf.image.resize(x, (12, 16), method="nearest"),
    "resize corners": lambda tf, x: tf.compat.v1.image.resize_bilinear(x, (11, 15), align_corners=True),
    "reduce_max": lambda tf, x: tf.reduce_max(x, [1, 2]),
    "reduce_min": lambda tf, x: tf.reduce_min(x, 3, keepdims=True),
    "reduce_mean": lambda tf, x: tf.reduce_mean(x, [3]),
    "reduce_mean plane": lambda tf, x: tf.reduce_mean(x, [1, 2]),
    "argmax": lambda tf, x: tf.argmax(x, -1),
    "argmin": lambda tf, x: tf.argmin(x, 1, output_type=tf.int32),
    "top_k": lambda tf, x: list(tf.math.top_k(x, 2)),
    "cumsum": lambda tf, x: tf.cumsum(x, 1, exclusive=True, reverse=True),
    "gather": lambda tf, x: tf.gather(x, [3, 1, 1], axis=2),
    "gather_nd": lambda tf, x: tf.gather_nd(x, [[0, 1, 2], [0, 5, 7]]),
    "broadcast_to": lambda tf, x: tf.broadcast_to(x[:, :1], (2, 6, 8, 4)),
    "space_to_depth": lambda tf, x: tf.nn.space_to_depth(x, 2),
    "space_to_batch": lambda tf, x: tf.space_to_batch(x, [2, 3], [[0, 0], [0, 1]]),
    "batch_to_space": lambda tf, x: tf.batch_to_space(
        tf.space_to_batch(x, [2, 2], [[0, 0], [0, 0]]), [2, 2], [[0, 1], [1, 0]]
    ),
    "reverse": lambda tf, x: tf.reverse(x, [1, 2]),
    "reflect": lambda tf, x: tf.pad(x, BORDER, mode="REFLECT"),
    "symmetric": lambda tf, x: tf.pad(x, BORDER, mode="SYMMETRIC"),
    "pad": lambda tf, x: tf.pad(x, BORDER, constant_values=0.5),
    "slice": lambda tf, x: x[:, 1:5:2, ::-1, tf.newaxis, 2],
    "ellipsis": lambda tf, x: x[..., 1:3],
    "stack": lambda tf, x: tf.stack([x[:, 0], x[:, 1]], axis=2),
    "unstack": lambda tf, x: tf.unstack(x, axis=3),
    "split": lambda tf, x: tf.split(x, [1, 3], axis=3),
    "concat": lambda tf, x: tf.concat([x, x * 2], axis=1),
    "transpose": lambda tf, x: tf.transpose(x, [0, 3, 1, 2]),
    "shape": lambda tf, x: tf.reshape(x, tf.stack([tf.shape(x)[0], -1])),
    "roll": lambda tf, x: tf.roll(x, 2, axis=1),
    "any": lambda tf, x: tf.reduce_any(x > 1, axis=[1]),
}
# int8 forms of these are asked of the converter, but not of LiteRT's reference kernels (see test_tflite_moves.py)
FLOAT_ONLY = {
    "sum": lambda tf, x: tf.reduce_sum(x, [1, 2]),
    "product": lambda tf, x: tf.reduce_prod(x, [3]),
    "tile": lambda tf, x: tf.tile(x, [1, 2, 1, 3]),
    "repeat": lambda tf, x: tf.repeat(x, 2, axis=1),
    "depth_to_space": lambda tf, x: tf.nn.depth_to_space(x, 2),
    "reverse_sequence": lambda tf, x: tf.reverse_sequence(x, [4], seq_axis=1, batch_axis=0),
    "diagonal": lambda tf, x: tf.linalg.diag(x[:, 0]),
    "one_hot": lambda tf, x: tf.one_hot(tf.argmax(x, -1), 4),
    "scatter": lambda tf, x: tf.scatter_nd([[1], [3]], x[0, :2], [5, 8, 4]),
    "log_sum_exp": lambda tf, x: tf.reduce_logsumexp(x, axis=3),
    "norm": lambda tf, x: tf.norm(x, axis=3),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FUNCTIONS, *FLOAT_ONLY])
def test_float(name: str) -> None:
    tf = tf_models.tensorflow()
    function = {**FUNCTIONS, **FLOAT_ONLY}[name]
    agree(tf_models.float_model(lambda x: function(tf, x), SPECS), SPECS)


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_int8(name: str) -> None:
    tf = tf_models.tensorflow()
    agree(tf_models.int8_model(lambda x: FUNCTIONS[name](tf, x), SPECS, fallback=True), SPECS)
