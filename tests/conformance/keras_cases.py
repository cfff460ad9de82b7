"""Configurations of Keras layers, as text that Keras 2 and Keras 3 both understand: `expression -> input shapes`.

`build` makes a model of each; `tests/conformance/keras2_files.py` writes the same with TensorFlow 2.15.
"""

from __future__ import annotations

from typing import Any

import numpy as np

IMAGE, LINE, VOLUME, STEPS, FLAT = (6, 7, 3), (8, 3), (4, 5, 4, 2), (5, 4), (6,)
FIRST = (3, 6, 7)

_NAMES = (
    "linear",
    "relu",
    "relu6",
    "sigmoid",
    "tanh",
    "softmax",
    "elu",
    "selu",
    "softplus",
    "softsign",
    "silu",
    "swish",
    "gelu",
    "exponential",
    "hard_sigmoid",
    "mish",
    "leaky_relu",
    "log_softmax",
)
_NAMES_3 = (
    "celu",
    "glu",
    "hard_tanh",
    "hard_shrink",
    "soft_shrink",
    "tanh_shrink",
    "sparse_plus",
    "sparse_sigmoid",
    "squareplus",
    "log_sigmoid",
    "hard_silu",
    "hard_swish",
)

# One layer: (expression, shape of the input without batch)
CORE = [
    ("Dense(3)", FLAT),
    ("Dense(3, use_bias=False, activation='relu')", STEPS),
    ("Dense(2, activation='softmax')", IMAGE),
    ("Activation('tanh')", FLAT),
    ("Embedding(9, 3)", "int:5"),
    ("Masking(0.5)", STEPS),
    ("Dropout(0.3)", FLAT),
    ("SpatialDropout1D(0.3)", STEPS),
    ("SpatialDropout2D(0.3)", IMAGE),
    ("SpatialDropout3D(0.3)", VOLUME),
    ("GaussianNoise(0.3)", FLAT),
    ("GaussianDropout(0.3)", FLAT),
    ("ActivityRegularization(0.1)", FLAT),
    ("EinsumDense('abc,cd->abd', output_shape=(None, 6), bias_axes='d')", STEPS),
    ("EinsumDense('abc,cde->abde', output_shape=(None, 2, 3), bias_axes='de', activation='relu')", STEPS),
    ("EinsumDense('...x,xy->...y', output_shape=5)", STEPS),
    ("EinsumDense('abc,bd->acd', output_shape=(4, 3))", STEPS),
]
ACTIVATIONS = [
    *[(f"Activation('{name}')", STEPS) for name in _NAMES],
    ("ReLU()", STEPS),
    ("ReLU(max_value=0.5)", STEPS),
    ("ReLU(negative_slope=0.2)", STEPS),
    ("ReLU(negative_slope=0.2, max_value=0.6)", STEPS),
    ("ReLU(threshold=0.3)", STEPS),
    ("ReLU(threshold=0.3, max_value=0.9)", STEPS),
    ("ReLU(threshold=0.3, negative_slope=0.5)", STEPS),
    ("ReLU(threshold=0.3, negative_slope=0.5, max_value=0.9)", STEPS),
    ("LeakyReLU(0.3)", STEPS),
    ("ELU(0.7)", STEPS),
    ("PReLU()", STEPS),
    ("PReLU(shared_axes=[1, 2])", IMAGE),
    ("Softmax()", STEPS),
    ("Softmax(axis=1)", IMAGE),
    ("Dense(3, activation='gelu')", FLAT),
    ("Conv1D(3, 2, activation='hard_sigmoid')", LINE),
]
CONVOLUTIONS = [
    ("Conv1D(4, 3)", LINE),
    ("Conv1D(4, 3, strides=2, padding='same', activation='relu')", LINE),
    ("Conv1D(4, 3, padding='causal', dilation_rate=2)", LINE),
    ("Conv1D(6, 3, groups=3, use_bias=False)", LINE),
    ("Conv2D(4, 3)", IMAGE),
    ("Conv2D(4, (3, 2), strides=(2, 1), padding='same', activation='relu6')", IMAGE),
    ("Conv2D(4, 2, dilation_rate=(2, 3))", IMAGE),
    ("Conv2D(6, 3, groups=3, padding='same')", IMAGE),
    ("Conv2D(4, 3, padding='same', data_format='channels_first')", FIRST),
    ("Conv3D(3, 2)", VOLUME),
    ("Conv3D(3, (3, 2, 2), strides=(2, 1, 2), padding='same', activation='tanh')", VOLUME),
    ("DepthwiseConv1D(3, padding='same', depth_multiplier=2)", LINE),
    ("DepthwiseConv1D(3, strides=2, activation='relu')", LINE),
    ("DepthwiseConv2D(3)", IMAGE),
    ("DepthwiseConv2D((2, 3), strides=2, padding='same', depth_multiplier=2, activation='relu')", IMAGE),
    ("DepthwiseConv2D(2, dilation_rate=2, use_bias=False)", IMAGE),
    ("SeparableConv1D(4, 3, padding='same')", LINE),
    ("SeparableConv1D(4, 3, depth_multiplier=2, activation='elu')", LINE),
    ("SeparableConv2D(4, 3)", IMAGE),
    ("SeparableConv2D(4, 3, strides=2, padding='same', depth_multiplier=2, use_bias=False)", IMAGE),
    ("Conv1DTranspose(4, 3)", LINE),
    ("Conv1DTranspose(4, 3, strides=2, padding='same')", LINE),
    ("Conv1DTranspose(4, 2, strides=3)", LINE),
    ("Conv2DTranspose(4, 3)", IMAGE),
    ("Conv2DTranspose(4, 3, strides=2, padding='same', activation='relu')", IMAGE),
    ("Conv2DTranspose(4, (2, 3), strides=(3, 2), use_bias=False)", IMAGE),
    ("Conv2DTranspose(4, 3, strides=2, padding='same', output_padding=1)", IMAGE),
    ("Conv2DTranspose(4, 4, strides=2, padding='same')", IMAGE),
    ("Conv2DTranspose(4, 1, strides=2, padding='same')", IMAGE),
    ("Conv2DTranspose(4, 3, strides=3, output_padding=2)", IMAGE),
    ("Conv2DTranspose(4, 3, dilation_rate=2)", IMAGE),
    ("Conv2DTranspose(4, 3, dilation_rate=2, padding='same')", IMAGE),
    ("Conv2DTranspose(4, 3, strides=2, padding='same', data_format='channels_first')", FIRST),
    ("Conv3DTranspose(3, 2, strides=2)", VOLUME),
    ("Conv3DTranspose(3, 3, strides=(1, 2, 1), padding='same')", VOLUME),
]
POOLS = [
    *[
        (f"{word}Pooling{dims}D({arguments})", shape)
        for word in ("Max", "Average")
        for dims, shape in ((1, LINE), (2, IMAGE), (3, VOLUME))
        for arguments in ("2", "3, strides=1", "3, strides=2, padding='same'")
    ],
    *[(f"{word}Pooling2D((2, 3), data_format='channels_first')", FIRST) for word in ("Max", "Average")],
    *[
        (f"Global{word}Pooling{dims}D({arguments})", shape)
        for word in ("Max", "Average")
        for dims, shape in ((1, LINE), (2, IMAGE), (3, VOLUME))
        for arguments in ("", "keepdims=True")
    ],
    *[
        (f"Global{word}Pooling2D(data_format='channels_first', keepdims={keep})", FIRST)
        for word in ("Max", "Average")
        for keep in (False, True)
    ],
]
NORMALISATIONS = [
    ("BatchNormalization()", IMAGE),
    ("BatchNormalization(scale=False, epsilon=0.01)", FLAT),
    ("BatchNormalization(center=False)", STEPS),
    ("BatchNormalization(axis=1)", FIRST),
    ("LayerNormalization()", STEPS),
    ("LayerNormalization(axis=[1, 2], epsilon=0.01)", STEPS),
    ("LayerNormalization(axis=1, scale=False)", STEPS),
    ("LayerNormalization(center=False)", IMAGE),
    ("LayerNormalization(center=False, scale=False)", FLAT),
    ("GroupNormalization(2)", (3, 5, 4)),
    ("GroupNormalization(-1, scale=False)", IMAGE),
    ("GroupNormalization(1, axis=1, center=False)", FIRST),
    ("GroupNormalization(2)", FLAT),
    ("UnitNormalization()", STEPS),
    ("UnitNormalization(axis=1)", STEPS),
    ("UnitNormalization(axis=[1, 2])", STEPS),
    ("Normalization(mean=[1.0, 2.0, -0.5], variance=[2.0, 0.5, 1.5])", LINE),
    ("Normalization(axis=None, mean=0.7, variance=2.0)", FLAT),
    ("Normalization(mean=[1.0, 2.0, -0.5], variance=[2.0, 0.5, 1.5], invert=True)", LINE),
    ("SpectralNormalization(Dense(3))", FLAT),
    ("SpectralNormalization(Conv2D(3, 2))", IMAGE),
]
SHAPES = [
    ("Flatten()", IMAGE),
    ("Flatten(data_format='channels_first')", FIRST),
    ("Reshape((2, 3))", FLAT),
    ("Reshape((-1, 3))", IMAGE),
    ("Permute((2, 1))", STEPS),
    ("Permute((3, 1, 2))", IMAGE),
    ("RepeatVector(3)", FLAT),
    ("Cropping1D((1, 2))", LINE),
    ("Cropping2D(((1, 2), (0, 1)))", IMAGE),
    ("Cropping2D(1, data_format='channels_first')", FIRST),
    ("Cropping3D(1)", VOLUME),
    ("ZeroPadding1D((1, 2))", LINE),
    ("ZeroPadding2D(((1, 2), (0, 1)))", IMAGE),
    ("ZeroPadding2D(1, data_format='channels_first')", FIRST),
    ("ZeroPadding3D((1, 0, 2))", VOLUME),
    ("UpSampling1D(3)", LINE),
    ("UpSampling2D((2, 3))", IMAGE),
    ("UpSampling2D(2, interpolation='bilinear')", IMAGE),
    ("UpSampling2D(2, interpolation='bicubic')", IMAGE),
    ("UpSampling2D(2, data_format='channels_first')", FIRST),
    ("UpSampling3D((2, 1, 3))", VOLUME),
]
PREPROCESSING = [
    ("Rescaling(1 / 255.0, offset=-0.5)", IMAGE),
    ("Rescaling([1.0, 2.0, 3.0], offset=[0.0, 1.0, 2.0])", IMAGE),
    ("Resizing(9, 5)", IMAGE),
    ("Resizing(3, 4, interpolation='nearest')", IMAGE),
    ("Resizing(11, 13, interpolation='nearest')", IMAGE),
    ("Resizing(9, 5, interpolation='bicubic')", IMAGE),
    ("Resizing(4, 4, crop_to_aspect_ratio=True)", IMAGE),
    ("CenterCrop(3, 4)", IMAGE),
    ("Discretization([-0.5, 0.0, 0.7])", STEPS),
    ("CategoryEncoding(9, output_mode='one_hot')", "int:1"),
    ("CategoryEncoding(9, output_mode='multi_hot')", "int:5"),
    ("CategoryEncoding(9, output_mode='count')", "int:5"),
]
RECURRENT = [
    ("LSTM(3)", STEPS),
    ("LSTM(3, return_sequences=True, return_state=True)", STEPS),
    ("LSTM(3, use_bias=False, go_backwards=True, return_sequences=True)", STEPS),
    ("LSTM(3, activation='relu', recurrent_activation='hard_sigmoid')", STEPS),
    ("LSTM(3, unroll=True, unit_forget_bias=False, dropout=0.2)", STEPS),
    ("GRU(3)", STEPS),
    ("GRU(3, reset_after=False, return_sequences=True)", STEPS),
    ("GRU(3, use_bias=False, return_state=True)", STEPS),
    ("GRU(3, go_backwards=True, activation='softsign')", STEPS),
    ("SimpleRNN(3)", STEPS),
    ("SimpleRNN(3, activation='relu', return_sequences=True, use_bias=False)", STEPS),
    ("RNN(LSTMCell(3))", STEPS),
    ("RNN([LSTMCell(3), GRUCell(2), LSTMCell(4), SimpleRNNCell(2)], return_sequences=True)", STEPS),
    ("RNN(StackedRNNCells([GRUCell(3), GRUCell(2)]))", STEPS),
    ("Bidirectional(LSTM(3))", STEPS),
    ("Bidirectional(LSTM(3, return_sequences=True), merge_mode='sum')", STEPS),
    ("Bidirectional(GRU(3, return_sequences=True), merge_mode='ave')", STEPS),
    ("Bidirectional(SimpleRNN(3), merge_mode='mul')", STEPS),
    ("Bidirectional(GRU(3, return_sequences=True), merge_mode=None)", STEPS),
    ("Bidirectional(LSTM(3, return_state=True))", STEPS),
    ("Bidirectional(LSTM(3), backward_layer=LSTM(3, activation='relu', go_backwards=True))", STEPS),
    ("TimeDistributed(Dense(3))", STEPS),
    ("TimeDistributed(Conv2D(2, 3, padding='same'))", (4, *IMAGE)),
    ("TimeDistributed(LSTM(3))", (3, *STEPS)),
    ("ConvLSTM1D(2, 3)", (3, 6, 2)),
    ("ConvLSTM2D(2, 3, padding='same', return_sequences=True)", (3, 5, 6, 2)),
    ("ConvLSTM2D(2, 2, strides=2, go_backwards=True, return_state=True)", (3, 5, 6, 2)),
]
# Several inputs: the layer is called with a list
MERGING = [
    *[(f"{word}()", [STEPS] * 3) for word in ("Add", "Multiply", "Average", "Maximum", "Minimum", "Concatenate")],
    ("Subtract()", [STEPS, STEPS]),
    ("Add()", [(4,), (5, 4)]),
    ("Multiply()", [(1, 4), (5, 4)]),
    ("Concatenate(axis=1)", [(2, 3), (4, 3)]),
    ("Dot(1)", [FLAT, FLAT]),
    ("Dot((2, 1))", [(3, 4), (4, 5)]),
    ("Dot(2, normalize=True)", [(3, 4), (5, 4)]),
    ("Attention()", [(3, 4), (5, 4)]),
    ("Attention(use_scale=True)", [(3, 4), (5, 6), (5, 4)]),
    ("Attention(score_mode='concat')", [(3, 4), (5, 4)]),
    ("AdditiveAttention()", [(3, 4), (5, 4)]),
    ("AdditiveAttention(use_scale=False)", [(3, 4), (5, 6), (5, 4)]),
]
BOTH = {
    "core": CORE,
    "activation": ACTIVATIONS,
    "convolution": CONVOLUTIONS,
    "pool": POOLS,
    "normalisation": NORMALISATIONS,
    "shape": SHAPES,
    "preprocessing": PREPROCESSING,
    "recurrent": RECURRENT,
    "merging": MERGING,
}
# What only Keras 3 has
ONLY_3 = [
    *[(f"Activation('{name}')", STEPS) for name in _NAMES_3],
    ("Softmax(axis=[1, 2])", STEPS),
    ("Dense(3, activation=LeakyReLU(0.1))", FLAT),
    ("Dense(3, activation=ReLU(max_value=1.0))", FLAT),
    ("RMSNormalization()", STEPS),
    ("RMSNormalization(axis=[1, 2], epsilon=0.01)", STEPS),
    ("LayerNormalization(rms_scaling=True)", STEPS),
    ("AlphaDropout(0.3)", FLAT),
    ("Identity()", FLAT),
    ("Resizing(8, 8, pad_to_aspect_ratio=True)", (4, 8, 3)),
    ("Resizing(9, 5, data_format='channels_first')", FIRST),
    ("CenterCrop(8, 5)", IMAGE),
    ("UpSampling2D(2, interpolation='lanczos3')", IMAGE),
    ("AdaptiveAveragePooling1D(3)", LINE),
    ("AdaptiveAveragePooling2D((3, 4))", IMAGE),
    ("AdaptiveMaxPooling2D(2)", IMAGE),
    ("Conv1D(4, 3, padding='same', data_format='channels_first')", (3, 8)),
    ("Conv3D(2, 2, data_format='channels_first')", (2, 4, 5, 4)),
    ("DepthwiseConv2D(3, data_format='channels_first')", FIRST),
    ("SeparableConv2D(4, 3, data_format='channels_first')", FIRST),
    ("CenterCrop(5, 8)", (9, 6, 2)),
]
# Models of Keras 3 from tensors x (and y): operations between layers, and how layers are called
EXPRESSIONS = [
    *[
        (text, [STEPS])
        for text in (
            "x * 2",
            "1 - x",
            "-x",
            "abs(x)",
            "x / (ops.abs(x) + 1)",
            "(x + 3) ** 2",
            "x * np.arange(4, dtype='float32')",
            "x @ np.ones((4, 3), 'float32')",
            "ops.matmul(x, ops.transpose(x, (0, 2, 1)))",
            "ops.mean(x, axis=1)",
            "ops.mean(x, axis=(1, 2), keepdims=True)",
            "ops.sum(x, axis=-1, keepdims=True)",
            "ops.max(x, axis=1)",
            "ops.min(x, axis=2)",
            "ops.prod(x, axis=2)",
            "ops.var(x, axis=1)",
            "ops.std(x, axis=2, keepdims=True)",
            "ops.cumsum(x, axis=1)",
            "ops.argmax(x, axis=-1)",
            "ops.argmin(x, axis=1)",
            "x[:, 0]",
            "x[..., 1:3]",
            "x[:, ::2, None]",
            "x[:, ::-1, -1]",
            "ops.concatenate([x, x * 2], axis=1)",
            "ops.stack([x, x * 2], axis=1)",
            "ops.stack([x, x * 2], axis=-1)",
            "ops.split(x, 2, axis=-1)[1]",
            "ops.split(x, [1, 3], axis=1)",
            "ops.unstack(x, axis=1)[2]",
            "ops.reshape(x, (-1, 20))",
            "ops.transpose(x, (0, 2, 1))",
            "ops.swapaxes(x, 1, 2)",
            "ops.moveaxis(x, 1, -1)",
            "ops.expand_dims(x, 1)",
            "ops.squeeze(ops.sum(x, axis=1, keepdims=True), 1)",
            "ops.tile(x, (1, 1, 2))",
            "ops.repeat(x, 2, axis=1)",
            "ops.flip(x, axis=1)",
            "ops.roll(x, 2, axis=1)",
            "ops.take(x, np.array([0, 2, -1]), axis=1)",
            "ops.pad(x, ((0, 0), (1, 2), (0, 1)))",
            "ops.pad(x, ((0, 0), (1, 2), (0, 0)), mode='reflect')",
            "ops.pad(x, ((0, 0), (1, 2), (0, 0)), constant_values=0.5)",
            "ops.broadcast_to(x[:, None], (1, 3, 5, 4))",
            "ops.where(x > 0, x, 0.5)",
            "ops.where(ops.logical_and(x > -0.5, x <= 1), x, -x)",
            "ops.cast(ops.logical_or(x >= 1, x < 0), 'float32')",
            "ops.cast(x * 10, 'int32')",
            "ops.clip(x, -0.5, 1)",
            "ops.maximum(x, 0.25)",
            "ops.minimum(x, x * x)",
            "ops.einsum('bij,bkj->bik', x, x)",
            "ops.einsum('bij->bj', x)",
            "ops.dot(x, np.ones((4, 3), 'float32'))",
            "ops.normalize(x)",
            "ops.rsqrt(ops.square(x) + 1)",
            "ops.log(ops.exp(x) + 1)",
            "ops.sin(x) + ops.cos(x) * ops.tanh(x)",
            "ops.floor(x * 3) + ops.ceil(x) + ops.round(x * 2)",
            "ops.sign(x)",
            "ops.log2(ops.abs(x) + 1)",
            "ops.erf(x)",
            "ops.relu(x) + ops.relu6(x) + ops.sigmoid(x) + ops.silu(x)",
            "ops.gelu(x)",
            "ops.gelu(x, approximate=False)",
            "ops.softmax(x, axis=1)",
            "ops.log_softmax(x)",
            "ops.leaky_relu(x, negative_slope=0.3) + ops.elu(x, alpha=0.5)",
            "ops.hard_sigmoid(x) + ops.softplus(x) + ops.softsign(x)",
            "activations.relu(x, negative_slope=0.1, max_value=0.7, threshold=0.2)",
            "[x + 1, x]",
            "LSTM(3)(x, initial_state=[x[:, 0, :3], x[:, 1, :3]])",
            "GRU(4)(x, initial_state=x[:, 0])",
            "Bidirectional(GRU(4))(x, initial_state=[x[:, 0], x[:, 1]])",
            "RNN([GRUCell(4), LSTMCell(3)])(x, initial_state=[x[:, 0], [x[:, 0, :3], x[:, 1, :3]]])",
            "MultiHeadAttention(2, 3)(x, x)",
            "MultiHeadAttention(2, 3, value_dim=2, use_bias=False, output_shape=5)(x, x, use_causal_mask=True)",
            "list(MultiHeadAttention(1, 3)(x, x, return_attention_scores=True))",
            "GroupQueryAttention(2, 4, 2)(x, x)",
            "GroupQueryAttention(3, 4, 1, use_bias=False)(x, x, use_causal_mask=True)",
            "Attention()([x, x], use_causal_mask=True)",
            "list(AdditiveAttention()([x, x], return_attention_scores=True))",
            "Dense(2)(Masking()(x))",
            "Sequential([Dense(3), BatchNormalization(), Dense(2)])(x)",
            "TimeDistributed(Sequential([Dense(3), BatchNormalization()]))(x)",
            "Sequential([Sequential([Dense(3), Dropout(0.1)]), TimeDistributed(Dense(2)), Bidirectional(LSTM(2))])(x)",
            "(lambda d: d(d(x)))(Dense(4))",
            "(lambda m: [m(x), m(x * 2)])(Sequential([Dense(3, activation='relu'), Dense(2)]))",
        )
    ],
    ("x + y", [STEPS, (1, 4)]),
    ("[x * y, x - y]", [STEPS, STEPS]),
    ("MultiHeadAttention(2, 3)(x, y)", [(3, 4), (5, 6)]),
    ("MultiHeadAttention(2, 3)(query=x, value=y, key=y)", [(3, 4), (5, 6)]),
    ("Concatenate()([Dense(3)(x), Flatten()(y)])", [FLAT, STEPS]),
    ("ops.equal(x, y)", ["int:5", "int:5"]),
    ("x * 2 + y // 2", ["int:5", "int:5"]),
    ("Embedding(9, 3)(x) + Embedding(9, 3)(y)", ["int:5", "int:5"]),
    ("GlobalAveragePooling1D()(Embedding(9, 4)(x))", ["int:5"]),
    ("Dense(2)(Flatten()(Embedding(9, 4, mask_zero=True)(x)))", ["int:5"]),
]


def everything(main_version: int) -> list[tuple[str, str, Any]]:
    """(family, expression, input shapes) of all cases that a main version of Keras has."""
    cases = [(family, text, shape) for family, table in BOTH.items() for text, shape in table]
    expressions = [("expression", text, shapes) for text, shapes in EXPRESSIONS]
    if main_version < 3:  # it has neither keras.ops nor some of the layers, and makes models of tensors by itself
        new = ("ops.", "activations.", "GroupQuery", "[x + 1, x]")
        return cases + [case for case in expressions if not any(word in case[1] for word in new)]
    return cases + [("keras3", text, shape) for text, shape in ONLY_3] + expressions


def build(keras: Any, expression: str, shapes: Any, batch: int | None = None) -> Any:
    """A model of one layer, or of an expression of x and y, with random weights; the batch is open unless given."""
    several = shapes if isinstance(shapes, list) else [shapes]
    inputs = []
    for shape in several:
        if isinstance(shape, str):  # whole numbers from 0 to 8
            inputs.append(keras.Input((int(shape.partition(":")[2]),), batch_size=batch, dtype="int32"))
        else:
            inputs.append(keras.Input(shape, batch_size=batch))
    names: dict[str, Any] = {**vars(keras.layers), "Sequential": keras.Sequential, "np": np}
    names.update(zip("xy", inputs, strict=False))
    names.update({name: getattr(keras, name, None) for name in ("ops", "activations")})
    made = eval(expression, names)
    if callable(made):
        made = made(inputs if len(inputs) > 1 else inputs[0])
    model = keras.Model(inputs, made)
    randomise(model)
    return model


def randomise(model: Any, seed: int = 0) -> None:
    """Weights that hide no mistake: none is 0 or 1, variances are above 0."""
    rng = np.random.default_rng(seed)
    values = []
    for weight, old in zip(model.weights, model.get_weights(), strict=True):
        if np.asarray(old).dtype.kind != "f":
            values.append(old)
        elif "variance" in weight.name:
            values.append(rng.uniform(0.5, 2, old.shape).astype("float32"))
        else:
            values.append((0.5 * rng.normal(size=old.shape) + 0.1).astype("float32"))
    model.set_weights(values)


def feeds(shapes: Any, seed: int = 1) -> list[np.ndarray]:
    """Two samples of each input, [2, ...]."""
    rng = np.random.default_rng(seed)
    arrays = []
    for shape in shapes if isinstance(shapes, list) else [shapes]:
        if isinstance(shape, str):
            arrays.append(rng.integers(0, 9, (2, int(shape.partition(":")[2]))).astype(np.int32))
        else:
            arrays.append(rng.normal(size=(2, *shape)).astype(np.float32))
    return arrays


def outputs(model: Any, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """What Keras computes, one sample at a time and flat: [2, elements] of each output."""
    results = []
    for sample in range(2):
        part = [array[sample : sample + 1] for array in arrays]
        found = _run(model, part if len(part) > 1 else part[0])
        found = found if isinstance(found, (list, tuple)) else [found]
        results.append([np.asarray(y).astype(np.float32).reshape(-1) for y in found])
    return [np.stack(column) for column in zip(*results, strict=True)]


def _run(model: Any, feed: Any) -> Any:
    """Eager; what TensorFlow has no eager kernel for on a CPU (channels first) is compiled."""
    import tensorflow as tf

    try:
        return model(feed, training=False)
    except (tf.errors.UnimplementedError, tf.errors.InvalidArgumentError):
        return tf.function(lambda x: model(x, training=False), jit_compile=True)(feed)
