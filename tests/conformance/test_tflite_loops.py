"""Loops and conditions as the TensorFlow converter writes them, against LiteRT."""

from __future__ import annotations

import pytest

from tests.conformance import tf_models
from tests.conformance.tf_models import agree


def recurrent(cell: str, **options):
    """A recurrent layer whose steps are a loop in the file."""
    keras = tf_models.tensorflow().keras
    layer = getattr(keras.layers, cell)(48, **options)
    model = keras.Sequential([keras.layers.Input((6, 24), batch_size=1), layer, keras.layers.Dense(3)])
    return lambda x: model(x)


# The converter itself crashes when it is asked for int8 here.
@pytest.mark.parametrize("maker", ["float_model", "dynrange_model"])
@pytest.mark.parametrize(
    ("cell", "options"), [("LSTM", {}), ("GRU", {"return_sequences": True}), ("SimpleRNN", {"go_backwards": True})]
)
def test_recurrent_layers_are_loops_written_out(cell, options, maker) -> None:
    model = getattr(tf_models, maker)(recurrent(cell, **options), [(1, 6, 24)])
    assert "WHILE" in tf_models.kinds(model)
    agree(model)


def test_condition_on_the_data() -> None:
    tf = tf_models.tensorflow()
    model = tf_models.float_model(
        lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2.0, lambda: tf.nn.relu(x) - 1.0), [(1, 3)]
    )
    assert "IF" in tf_models.kinds(model)
    agree(model, samples=8)
