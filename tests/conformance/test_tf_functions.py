"""Functions that the TensorFlow converter makes, float and int8: read, and equal to LiteRT's reference kernels."""

import numpy as np
import pytest

from tests.conformance import tf_models
from tests.conformance.tf_models import Spec, agree

ANY = [Spec((1, 6, 8), low=-3, high=3)]
POSITIVE = [Spec((1, 6, 8), low=0.1, high=3)]
PAIR = [Spec((1, 6, 8), low=-3, high=3), Spec((1, 6, 8), low=0.5, high=3)]
SLOPES = np.linspace(-0.3, 0.5, 8).astype(np.float32)


def tf():
    return tf_models.tensorflow()


CASES = {
    "abs": (lambda x: tf().abs(x), ANY),
    "negative": (lambda x: -x, ANY),
    "exp": (lambda x: tf().exp(x), ANY),
    "sine and cosine": (lambda x: tf().sin(x) + tf().cos(x), ANY),
    "hard swish": (lambda x: x * tf().nn.relu6(x + 3) / 6, ANY),
    "gelu": (lambda x: tf().nn.gelu(x, False), ANY),
    "gelu by tanh": (lambda x: tf().nn.gelu(x, True), ANY),
    "leaky relu": (lambda x: tf().nn.leaky_relu(x, 0.2), ANY),
    "prelu": (lambda x: tf().nn.relu(x) + SLOPES * (x - tf().abs(x)) * 0.5, ANY),
    "square and floor": (lambda x: tf().floor(tf().square(x)), ANY),
    "sign": (lambda x: tf().sign(x), ANY),
    "softplus": (lambda x: tf().nn.softplus(x), ANY),
    "swish": (lambda x: tf().nn.silu(x), ANY),
    "clip": (lambda x: tf().clip_by_value(x, -1.5, 2.0), ANY),
    "infinity": (lambda x: tf().math.is_inf(x), ANY),
    "logic": (
        lambda x: tf().cast(tf().logical_or(tf().logical_not(x > 1), tf().logical_and(x > 0, x < 2)), "float32"),
        ANY,
    ),
    "log": (lambda x: tf().math.log(x), POSITIVE),
    "square roots": (lambda x: tf().sqrt(x) + tf().math.rsqrt(x), POSITIVE),
    "power": (lambda x: tf().pow(x, 1.7), POSITIVE),
    "extremes": (lambda a, b: tf().maximum(a, b) + tf().minimum(a, b), PAIR),
    "squared difference": (lambda a, b: tf().math.squared_difference(a, b), PAIR),
    "floor of quotients": (lambda a, b: tf().math.floordiv(a, b), PAIR),
    "remainders": (lambda a, b: tf().math.floormod(a, b), PAIR),
    "angle": (lambda a, b: tf().atan2(a, b), PAIR),
    "where": (lambda a, b: tf().where(a < b, a, a * 0.5), PAIR),
    "sum of many": (lambda a, b: tf().add_n([a, b, a]), PAIR),
    "less": (lambda a, b: a < b, PAIR),
}


@pytest.mark.parametrize("maker", ["float_model", "int8_model"])
@pytest.mark.parametrize("name", CASES)
def test_equals_litert(name, maker):
    function, specs = CASES[name]
    agree(getattr(tf_models, maker)(function, specs), specs)


def test_quotients_in_float():
    """int8 ones: see test_tflite_functions, as LiteRT is off by one for small dividends."""
    agree(tf_models.float_model(lambda a, b: tf().nn.relu(a / b), PAIR), PAIR)
