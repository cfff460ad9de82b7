"""Shapes, and the messages for what an operator cannot take."""

import pytest

from tinydeploy.errors import UnsupportedError
from tinydeploy.ir.types import Elem, Quant, Type
from tinydeploy.ops import registry
from tinydeploy.ops._op import Signature

OPS = registry()


def f32(*shape):
    return Type(shape, Elem.F32)


GOOD = [
    (OPS["conv2d"](stride=(2, 1), padding=(0, 1, 2, 3)), [f32(2, 9, 8, 4), f32(6, 3, 3, 4), f32(6)], (2, 4, 11, 6)),
    (OPS["conv2d"](groups=2, dilation=(2, 2)), [f32(1, 9, 8, 4), f32(6, 3, 3, 2), None], (1, 5, 4, 6)),
    (OPS["depthwise_conv2d"](multiplier=2), [f32(1, 9, 8, 4), f32(1, 3, 3, 8)], (1, 7, 6, 8)),
    (OPS["conv3d"](stride=(1, 2, 3)), [f32(2, 9, 8, 7, 4), f32(6, 3, 3, 3, 4)], (2, 7, 3, 2, 6)),
    (OPS["transpose_conv2d"]((2, 3)), [f32(1, 9, 8, 4), f32(6, 3, 3, 4)], (1, 19, 24, 6)),
    (OPS["transpose_conv2d"]((2, 3), (1, 2), (1, 0, 2, 3), (1, 0)), [f32(1, 9, 8, 4), f32(6, 3, 3, 4)], (1, 19, 21, 6)),
    (OPS["batch_matmul"](), [f32(2, 1, 3, 4), f32(5, 4, 7)], (2, 5, 3, 7)),
    (OPS["average_pool3d"]((2, 2, 2), (2, 1, 1)), [f32(1, 4, 5, 6, 3)], (1, 2, 4, 5, 3)),
    (OPS["fully_connected"](), [f32(2, 3, 5), f32(7, 5), f32(7)], (2, 3, 7)),
    (OPS["fully_connected"](), [f32(5), f32(7, 5)], (7,)),
    (OPS["add"](), [f32(2, 1, 3), f32(4, 1)], (2, 4, 3)),
    (OPS["average_pool2d"]((3, 2), (2, 2), (1, 0, 0, 1)), [f32(1, 9, 8, 4)], (1, 4, 4, 4)),
    (OPS["max_pool2d"]((2, 2), (1, 1), (2, 3)), [f32(1, 9, 8, 4)], (1, 7, 5, 4)),
    (OPS["mean"]((1, 2), True), [f32(1, 9, 8, 4)], (1, 1, 1, 4)),
    (OPS["mean"]((1, 2)), [f32(1, 9, 8, 4)], (1, 4)),
    (OPS["reshape"]((4, 3)), [f32(2, 6)], (4, 3)),
    (OPS["reshape"](()), [f32(1)], ()),
    (OPS["transpose"]((2, 0, 1)), [f32(2, 3, 4)], (4, 2, 3)),
    (OPS["softmax"](1), [f32(2, 3)], (2, 3)),
    (OPS["pad"](((1, 0), (2, 3))), [f32(2, 3)], (3, 8)),
    (OPS["concat"](1), [f32(2, 3), f32(2, 4), f32(2, 1)], (2, 8)),
    (OPS["strided_slice"]((0, 4), (2, -1), (1, -2)), [f32(2, 5)], (2, 3)),
    (OPS["batch_norm"](), [f32(1, 2, 3), *[f32(3)] * 4], (1, 2, 3)),
]

BAD = [
    (OPS["conv2d"](), [f32(1, 9, 8, 4), f32(6, 3, 3, 3)], "groups divides"),
    (OPS["conv2d"](groups=3), [f32(1, 9, 8, 6), f32(4, 3, 3, 2)], "groups divides"),
    (OPS["conv2d"](), [f32(9, 8, 4), f32(6, 3, 3, 4)], "rank 4"),
    (OPS["conv2d"](), [f32(1, 2, 8, 4), f32(6, 3, 3, 4)], "fits once"),
    (OPS["conv2d"](stride=(0, 1)), [f32(1, 9, 8, 4), f32(6, 3, 3, 4)], "stride"),
    (OPS["conv2d"](), [f32(1, 9, 8, 4), f32(6, 3, 3, 4), f32(5)], "bias"),
    (OPS["conv2d"](), [Type((1, 9, 8, 4), Elem.U32, Quant.per_tensor(1)), f32(6, 3, 3, 4)], "8 bits"),
    (OPS["conv3d"](), [f32(1, 9, 8, 7, 4), f32(6, 3, 3, 4)], "rank 5"),
    (OPS["conv3d"](dilation=(1, 1, 4)), [f32(1, 9, 8, 7, 4), f32(6, 3, 3, 3, 4)], "not empty"),
    (OPS["transpose_conv2d"](padding=(6, 5, 0, 0)), [f32(1, 9, 8, 4), f32(6, 3, 3, 4)], "not empty"),
    (OPS["batch_matmul"](), [f32(2, 3, 4), f32(3, 4, 5)], "broadcast"),
    (OPS["batch_matmul"](), [f32(3, 4), f32(5, 4)], "broadcast"),
    (OPS["depthwise_conv2d"](multiplier=2), [f32(1, 9, 8, 4), f32(1, 3, 3, 4)], "multiplier"),
    (OPS["fully_connected"](), [f32(2, 5), f32(7, 4)], "last axis"),
    (OPS["add"](), [f32(2, 3), f32(4)], "broadcast"),
    (OPS["add"](), [f32(2), Type((2,), Elem.S8)], "element type"),
    (OPS["average_pool2d"]((2, 2), padding=(2, 0, 0, 0)), [f32(1, 9, 8, 4)], "smaller than the kernel"),
    (OPS["mean"]((1, 1)), [f32(1, 2)], "different axes"),
    (OPS["reshape"]((4, -1)), [f32(4, 1)], "as many elements"),
    (OPS["transpose"]((0, 0)), [f32(4, 1)], "once"),
    (OPS["softmax"](2), [f32(4, 1)], "axis"),
    (OPS["clamp"](1.0, 0.0), [f32(4)], "low"),
    (OPS["pad"](((1, -1),)), [f32(4)], "pair"),
    (OPS["concat"](0), [f32(4, 1), f32(4, 2)], "along the axis"),
    (OPS["concat"](0), [], "present"),
    (OPS["split"](0, (1, 2)), [f32(4)], "add up"),
    (OPS["strided_slice"]((4,), (4,), (1,)), [f32(4)], "in range"),
    (OPS["cast"](), [Type((1,), Elem.S8, Quant.per_tensor(1.0))], "not quantised"),
    (OPS["quantize"](Elem.F32), [f32(1)], "integer"),
    (OPS["batch_norm"](), [f32(1, 2, 3), *[f32(2)] * 4], "channel"),
]


@pytest.mark.parametrize(("op", "inputs", "shape"), GOOD, ids=lambda v: getattr(v, "name", None))
def test_shape(op, inputs, shape):
    assert op.infer(tuple(inputs)) == (f32(*shape),)


@pytest.mark.parametrize(("op", "inputs", "words"), BAD, ids=lambda v: getattr(v, "name", None))
def test_refusal_names_the_rule(op, inputs, words):
    with pytest.raises(UnsupportedError) as caught:
        op.infer(tuple(inputs))
    assert any(words in problem.rule for problem in caught.value.problems)
    assert op.name in str(caught.value)


def test_split_has_an_output_a_piece():
    assert OPS["split"](1, (2, 0, 3)).infer((f32(2, 5),)) == (f32(2, 2), f32(2, 0), f32(2, 3))


def test_quantize_and_cast_give_their_element_type():
    assert OPS["quantize"]().infer((f32(3),))[0].elem is Elem.S8
    assert OPS["dequantize"]().infer((Type((3,), Elem.S8, Quant.per_tensor(1.0)),)) == (f32(3),)
    assert OPS["cast"](Elem.S32).infer((f32(3),))[0].elem is Elem.S32


def test_macs():
    def macs(op, *inputs):
        return op.macs(Signature(inputs, op.infer(inputs)))

    assert macs(OPS["conv2d"](groups=2), f32(1, 9, 8, 4), f32(6, 3, 3, 2)) == 7 * 6 * 6 * 18
    assert macs(OPS["depthwise_conv2d"](padding=(1, 1, 1, 1)), f32(1, 9, 8, 4), f32(1, 3, 3, 4)) == 9 * 8 * 4 * 9
    assert macs(OPS["fully_connected"](), f32(2, 5), f32(7, 5)) == 70
    assert macs(OPS["reshape"]((10,)), f32(2, 5)) == 0
