"""The float references against ONNX Runtime, where it has what LiteRT lacks."""

import numpy as np
import pytest

from tests.conftest import need_module
from tinydeploy.ops.average_pool2d import AveragePool2d
from tinydeploy.ops.batch_norm import BatchNorm
from tinydeploy.ops.clamp import Clamp
from tinydeploy.ops.conv2d import Conv2d
from tinydeploy.ops.depthwise_conv2d import DepthwiseConv2d
from tinydeploy.ops.max_pool2d import MaxPool2d
from tinydeploy.ops.mean import Mean
from tinydeploy.ops.pad import Pad
from tinydeploy.ops.softmax import Softmax
from tinydeploy.ops.strided_slice import StridedSlice


def ort(kind, *arrays, **attributes):
    """The outputs of one ONNX node."""
    need_module("onnx", "onnxruntime")
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    names = [f"i{k}" for k in range(len(arrays))]
    node = helper.make_node(kind, names, ["y"], **attributes)
    fed = helper.make_tensor_value_info("i0", TensorProto.FLOAT, arrays[0].shape)
    out = onnx.ValueInfoProto(name="y")
    weights = [numpy_helper.from_array(a, n) for a, n in zip(arrays[1:], names[1:], strict=True)]
    graph = helper.make_graph([node], "g", [fed], [out], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"i0": arrays[0]})[0]


def first(array):
    """NHWC to NCHW."""
    return np.ascontiguousarray(array.transpose(0, 3, 1, 2))


def close(ours, theirs):
    assert ours.shape == theirs.shape
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5 * float(np.abs(theirs).max()))


@pytest.fixture
def x():
    return np.random.default_rng(1).normal(size=(2, 9, 8, 6)).astype(np.float32)


@pytest.mark.parametrize("groups", [1, 2, 3])
@pytest.mark.parametrize(
    ("stride", "dilation", "padding"), [((1, 1), (1, 1), (2, 0, 1, 3)), ((2, 1), (2, 3), (3, 1, 2, 2))]
)
def test_conv_with_any_padding_dilation_and_groups(x, groups, stride, dilation, padding):
    rng = np.random.default_rng(2)
    weights, bias = rng.normal(size=(12, 3, 2, 6 // groups)).astype(np.float32), rng.normal(size=12).astype(np.float32)
    top, bottom, left, right = padding
    want = ort(
        "Conv",
        first(x),
        first(weights),
        bias,
        strides=stride,
        dilations=dilation,
        pads=[top, left, bottom, right],
        group=groups,
    )
    ours = Conv2d(stride, dilation, padding, groups).reference(x, weights, bias)[0]
    close(first(ours), want)


@pytest.mark.parametrize("multiplier", [1, 2])
def test_depthwise_is_a_conv_with_a_group_a_channel(x, multiplier):
    weights = np.random.default_rng(3).normal(size=(1, 3, 2, 6 * multiplier)).astype(np.float32)
    as_conv = weights.transpose(3, 0, 1, 2)
    want = ort("Conv", first(x), np.ascontiguousarray(as_conv), group=6, strides=[2, 1], pads=[1, 0, 1, 1])
    ours = DepthwiseConv2d((2, 1), (1, 1), (1, 1, 0, 1), multiplier).reference(x, weights, None)[0]
    close(first(ours), want)


@pytest.mark.parametrize("include", [False, True])
def test_average_pool(x, include):
    want = ort(
        "AveragePool",
        first(x),
        kernel_shape=[3, 2],
        strides=[2, 1],
        pads=[1, 1, 2, 0],
        count_include_pad=int(include),
    )
    ours = AveragePool2d((3, 2), (2, 1), (1, 2, 1, 0), include).reference(x)[0]
    close(first(ours), want)


def test_dilated_max_pool(x):
    want = ort("MaxPool", first(x), kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1], dilations=[2, 3])
    close(first(MaxPool2d((3, 2), (2, 1), (2, 3), (1, 1, 0, 1)).reference(x)[0]), want)


def test_batch_norm(x):
    rng = np.random.default_rng(4)
    gamma, beta, mean = (rng.normal(size=6).astype(np.float32) for _ in range(3))
    variance = rng.uniform(0.1, 2, 6).astype(np.float32)
    want = ort("BatchNormalization", first(x), gamma, beta, mean, variance, epsilon=1e-3)
    close(first(BatchNorm(1e-3).reference(x, gamma, beta, mean, variance)[0]), want)


@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_softmax_along_any_axis(x, axis):
    close(Softmax(axis).reference(x * 20)[0], ort("Softmax", x * 20, axis=axis))


def test_mean(x):
    close(Mean((1, 3)).reference(x)[0], ort("ReduceMean", x, axes=[1, 3], keepdims=0))


def test_clip(x):
    low, high = np.float32(-0.3), np.float32(0.7)
    close(Clamp(-0.3, 0.7).reference(x)[0], ort("Clip", x, np.array(low), np.array(high)))


def test_pad_with_a_value(x):
    pads = np.array([0, 1, 2, 0, 0, 2, 1, 3], np.int64)
    ours = Pad(((0, 0), (1, 2), (2, 1), (0, 3)), -1.5).reference(x)[0]
    close(ours, ort("Pad", x, pads, np.array(-1.5, np.float32)))


def test_slice_backwards(x):
    bounds = [np.array(v, np.int64) for v in ([1, 8, 0, 5], [2, -100, 8, -100], [0, 1, 2, 3], [1, -3, 2, -1])]
    ours = StridedSlice((1, 8, 0, 5), (2, -1, 8, -1), (1, -3, 2, -1)).reference(x)[0]
    close(ours, ort("Slice", x, *bounds))
