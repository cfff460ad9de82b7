"""The TensorFlow converter's five kinds of model of one small net: read, and equal to LiteRT."""

import numpy as np
import pytest

from tests.conformance import tf_models
from tests.conformance.tf_models import Spec, agree

SPECS = [Spec((1, 8, 8, 3), low=-2.0, high=2.0)]


def net():
    tf = tf_models.tensorflow()
    rng = np.random.default_rng(3)
    first = tf.constant(rng.normal(0, 0.3, (3, 3, 3, 8)).astype(np.float32))
    second = tf.constant(rng.normal(0, 0.3, (128, 10)).astype(np.float32))

    def fn(x):
        y = tf.nn.relu(tf.nn.conv2d(x, first, 2, "SAME") + 0.1)
        return tf.matmul(tf.reshape(y, (1, 128)), second)

    return fn


@pytest.mark.parametrize("maker", ["float_model", "float16_model", "int8_model", "int16x8_model", "dynrange_model"])
def test_small_net(maker):
    fn = net()
    model = getattr(tf_models, maker)(fn, SPECS)
    assert "CONV_2D" in tf_models.kinds(model)
    agree(model, SPECS)


@pytest.mark.parametrize("maker", ["float_model", "int8_model"])
def test_variable(maker):
    tf = tf_models.tensorflow()

    class Average(tf.Module):
        def __init__(self):
            super().__init__()
            self.mean = tf.Variable(np.full((1, 3), 0.5, np.float32))

        def step(self, x):
            self.mean.assign(self.mean * 0.75 + x * 0.25)
            return self.mean * 2.0 - x

    graph = agree(getattr(tf_models, maker)(Average().step, [(1, 3)]))
    assert graph.states[0].initial.tolist() == [[0.5] * 3]
