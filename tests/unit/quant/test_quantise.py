"""Float graphs at int8: formats, shared scales, islands, states, and what the twin makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.quant.quant_graphs import Maker, sqnr
from tinydeploy.errors import InputError, UsageError
from tinydeploy.ir import Elem, Graph, Quant
from tinydeploy.ir.text import to_text
from tinydeploy.ir.verify import verify
from tinydeploy.quant import quantise


def cnn(seed: int = 0) -> Maker:
    make = Maker(seed)
    x = make.input(1, 8, 8, 3)
    x = make.depthwise(make.conv(x, 8))
    x = make.node("max_pool2d", make.conv(x, 8, 1), kernel=(2, 2), stride=(2, 2))
    x = make.node("average_pool2d", x, kernel=(4, 4), stride=(4, 4))
    x = make.node("reshape", x, shape=(1, 8))
    make.done(make.node("softmax", make.dense(x, 5), axis=1))
    return make


def test_formats_of_weights_biases_and_activations() -> None:
    make = cnn()
    before = to_text(make.graph)
    result = quantise(make.graph, "int8", make.samples())
    assert to_text(make.graph) == before
    for node in result.nodes:
        rule = node.op.quant
        assert result.type(node.outputs[0]).elem is Elem.S8
        assert len(result.type(node.outputs[0]).quant.scale) == 1
        if rule.weights is None:
            continue
        weights = result.values[node.inputs[rule.weights]]
        assert weights.type.elem is Elem.S8
        assert weights.type.quant.axis == rule.weights_axis
        assert set(weights.type.quant.zero_point) == {0}
        assert weights.data.min() >= -127
        biggest = np.abs(weights.data.astype(int)).max(
            axis=tuple(a for a in range(weights.data.ndim) if a != rule.weights_axis)
        )
        assert (biggest == 127).all()
        bias = result.type(node.inputs[rule.bias])
        assert bias.elem is Elem.S32
        product = np.float32(result.type(node.inputs[0]).scale) * np.asarray(weights.type.quant.scale, np.float32)
        assert bias.quant.scale == tuple(float(s) for s in product)


def test_a_cnn_keeps_its_signal() -> None:
    for seed in range(3):
        make = cnn(seed)
        samples = make.samples()
        assert sqnr(make.graph, quantise(make.graph, "int8", samples), samples)[0] > 30


@pytest.mark.parametrize("ranges", ["mse", "minmax", "percentile"])
def test_every_way_of_choosing_ranges(ranges: str) -> None:
    make = cnn()
    samples = make.samples()
    assert sqnr(make.graph, quantise(make.graph, "int8", samples, ranges=ranges), samples)[0] > 25


def test_zero_is_exact_everywhere() -> None:
    make = Maker()
    x = make.node("add", make.input(1, 4), make.constant(np.full(4, 3.0)))  # 3 + noise: 0 is outside what is seen
    make.done(make.node("mul", x, make.constant(np.full(4, 0.5))))
    result = quantise(make.graph, "int8", {"in": np.random.default_rng(0).uniform(1, 2, (50, 1, 4))})
    for value in result.values.values():
        low, high = value.type.elem.limits
        assert low <= value.type.zero_point <= high


def test_moving_operators_share_one_scale() -> None:
    make = cnn()
    result = quantise(make.graph, "int8", make.samples())
    for node in result.nodes:
        if node.op.quant.ties:
            assert result.type(node.inputs[0]).quant == result.type(node.outputs[0]).quant


def test_concatenation_shares_one_scale_and_covers_the_widest() -> None:
    make = Maker()
    x = make.input(1, 6)
    wide = make.node("mul", x, make.constant(np.full(6, 20.0)))
    make.done(make.node("concat", x, wide, make.constant(np.full((1, 6), -90.0)), axis=1))
    result = quantise(make.graph, "int8", make.samples(), ranges="minmax")
    quants = {result.type(name).quant for name in (*result.nodes[-1].inputs, result.outputs[0])}
    assert len(quants) == 1
    (quant,) = quants
    assert quant.scale[0] * (-128 - quant.zero_point[0]) == pytest.approx(-90, abs=quant.scale[0])


def test_concatenation_with_a_softmax_is_rescaled_not_clipped() -> None:
    make = Maker()
    x = make.input(1, 6)
    make.done(make.node("concat", make.node("softmax", x, axis=1), make.dense(x, 6), axis=1))
    samples = make.samples()
    result = quantise(make.graph, "int8", samples)
    assert result.type("softmax").quant == Quant.per_tensor(1 / 256, -128)
    assert [node.op.name for node in result.nodes].count("quantize") == 1
    assert sqnr(make.graph, result, samples)[0] > 30


def test_prescribed_outputs_hold_through_moving_operators() -> None:
    make = Maker()
    x = make.node("tanh", make.input(1, 2, 3))
    make.done(make.node("reshape", x, shape=(1, 6)), make.node("logistic", make.dense(x, 4)))
    result = quantise(make.graph, "int8", make.samples())
    assert [result.type(name).quant for name in result.outputs] == [
        Quant.per_tensor(1 / 128, 0),
        Quant.per_tensor(1 / 256, -128),
    ]


def test_float_island_between_integer_nodes() -> None:
    make = Maker()
    x = make.conv(make.input(1, 4, 4, 3), 4)
    parameters = [make.constant(values) for values in (np.full(4, 1.5), np.zeros(4), np.full(4, 0.1), np.ones(4))]
    y = make.node("batch_norm", x, *parameters, epsilon=1e-3)
    make.done(make.conv(y, 2), y)
    samples = make.samples()
    result = quantise(make.graph, "int8", samples)
    assert [node.op.name for node in result.nodes] == ["conv2d", "dequantize", "batch_norm", "quantize", "conv2d"]
    assert result.outputs == make.graph.outputs, "an output keeps its name though it is made in float"
    assert all(result.type(name).elem is Elem.S8 for name in result.outputs)
    assert min(sqnr(make.graph, result, samples)) > 30


def test_weights_that_are_computed_stay_in_float() -> None:
    make = Maker()
    a, b = make.input(1, 4, name="a"), make.input(3, 4, name="b")
    make.done(make.node("fully_connected", a, b, None))
    samples = make.samples()
    result = quantise(make.graph, "int8", samples)
    assert "fully_connected" in [node.op.name for node in result.nodes]
    assert sqnr(make.graph, result, samples)[0] > 30


def test_an_output_that_is_an_input() -> None:
    make = Maker()
    x = make.input(1, 4)
    make.done(x, make.node("reshape", x, shape=(4,)))
    result = quantise(make.graph, "int8", make.samples())
    assert result.outputs[0] == "in"
    assert result.type("in").elem is Elem.S8


def test_integers_that_are_no_activations_are_left_alone() -> None:
    make = Maker()
    x = make.input(1, 4)
    counted = make.node("cast", x, elem=Elem.S32)
    make.done(make.dense(x, 2), counted)
    result = quantise(make.graph, "int8", make.samples())
    assert result.type(result.outputs[1]).elem is Elem.S32
    assert result.type(result.outputs[1]).quant is None


def test_constant_used_twice_gets_a_quantisation_for_each_use() -> None:
    make = Maker()
    x = make.input(1, 4)
    weights = make.constant(np.random.default_rng(0).normal(0, 1, (4, 4)), "weights")
    y = make.node("fully_connected", x, weights, make.constant(np.zeros(4)))
    z = make.node("fully_connected", y, weights, make.constant(np.full(4, 1.0)))
    make.done(make.node("mul", z, make.constant(np.full(4, 0.1))))
    samples = make.samples()
    assert sqnr(make.graph, quantise(make.graph, "int8", samples), samples)[0] > 30


def recurrent() -> tuple[Maker, dict[str, np.ndarray]]:
    make = Maker()
    x, h = make.input(1, 6), make.graph.add_value("h", make.graph.type(make.input(1, 5, name="unused")))
    make.graph.inputs.remove("unused")
    kept = make.node("add", make.dense(x, 5), make.dense(h, 5))
    new = make.node("tanh", kept)
    make.state(h, new)
    make.done(make.dense(new, 3))
    return make, {"in": make.random.normal(0, 1, (16, 9, 1, 6)).astype(np.float32)}


def test_state_is_kept_in_one_quantisation() -> None:
    make, samples = recurrent()
    result = quantise(make.graph, "int8", samples)
    (state,) = result.states
    assert result.type(state.read) == result.type(state.write)
    assert result.type(state.read).quant == Quant.per_tensor(1 / 128, 0)
    assert state.initial.dtype == np.int8
    assert sqnr(make.graph, result, samples, steps=True)[0] > 25


def test_state_with_an_initial_value() -> None:
    make, samples = recurrent()
    make.graph.states[0].initial = np.full((1, 5), 0.5, np.float32)
    result = quantise(make.graph, "int8", samples)
    assert (result.states[0].initial == 64).all()


def test_state_of_a_float_island_stays_float() -> None:
    make = Maker()
    x = make.input(1, 4)
    h = make.graph.add_value("h", make.graph.type(x))
    parameters = [make.constant(values) for values in (np.ones(4), np.zeros(4), np.zeros(4), np.ones(4))]
    new = make.node("batch_norm", h, *parameters, epsilon=1e-3)
    make.state(h, new)
    make.done(make.node("add", x, x))
    result = quantise(make.graph, "int8", {"in": make.samples()["in"]})
    assert result.type("h").elem is Elem.F32
    assert result.states[0].initial.dtype == np.float32


@pytest.mark.parametrize("factor", [1e-12, 1e-6, 1e6, 1e12])
def test_any_unit_of_measure(factor: float) -> None:
    make = cnn()
    samples = {name: (array * factor).astype(np.float32) for name, array in make.samples().items()}
    for node in make.graph.nodes[:1]:
        bias = make.graph.values[node.inputs[2]]
        bias.data = (bias.data * factor).astype(np.float32)
    weights = make.graph.values[make.graph.nodes[1].inputs[1]]
    weights.data = (weights.data / factor).astype(np.float32)
    assert sqnr(make.graph, quantise(make.graph, "int8", samples), samples)[0] > 25


def test_dead_channels_and_biases_that_would_overflow() -> None:
    make = Maker()
    weights = make.random.normal(0, 1, (5, 3, 3, 3)).astype(np.float32)
    weights[1] = 0
    weights[2] = 1e-30
    weights[3] = 1e-7
    bias = np.array([0.5, 0.0, 3.0, 40.0, -0.1], np.float32)
    make.done(make.conv(make.input(1, 6, 6, 3), 5, weights=weights, bias=bias))
    samples = make.samples()
    result = quantise(make.graph, "int8", samples)
    assert sqnr(make.graph, result, samples)[0] > 30
    quantised_bias = next(value for value in result.values.values() if value.type.elem is Elem.S32)
    assert np.abs(quantised_bias.data).max() < 2**31 - 1


def test_an_activation_that_is_always_zero() -> None:
    make = Maker()
    x = make.conv(make.input(1, 4, 4, 2), 3, weights=np.zeros((3, 3, 3, 2)), bias=np.full(3, -1.0))
    make.done(make.conv(x, 2, bias=np.array([0.7, 0.3])))
    samples = make.samples()
    result = quantise(make.graph, "int8", samples)
    assert all(np.isfinite(scale) and scale > 0 for v in result.values.values() for scale in v.type.quant.scale)
    assert sqnr(make.graph, result, samples)[0] > 30


def test_the_mean_error_of_rounded_weights_goes_into_the_bias() -> None:
    make = Maker()
    x = make.input(1, 64)
    make.done(make.dense(x, 32))
    samples = {"in": (5 + make.random.normal(0, 0.1, (200, 1, 64))).astype(np.float32)}
    result = quantise(make.graph, "int8", samples)
    bias = next(value for value in result.values.values() if value.type.elem is Elem.S32)
    assert np.abs(bias.data).max() > 0, "the float bias is 0: only the correction is in it"
    assert sqnr(make.graph, result, samples)[0] > 44


def test_grouped_and_depthwise_corrections_know_their_channels() -> None:
    make = Maker()
    x = make.input(1, 5, 5, 4)
    make.done(make.conv(x, 6, groups=2), make.depthwise(x))
    samples = {"in": (np.arange(4) * 3 + make.random.normal(0, 0.3, (100, 1, 5, 5, 4))).astype(np.float32)}
    assert min(sqnr(make.graph, quantise(make.graph, "int8", samples), samples)) > 40


def test_float32_is_the_graph_itself() -> None:
    graph = cnn().graph
    assert quantise(graph, "float32", None) is graph


def test_quantised_graph_passes_through_at_its_own_level_only() -> None:
    make = cnn()
    result = quantise(make.graph, "int8", make.samples())
    assert quantise(result, "int8", None) is result
    with pytest.raises(UsageError, match="already"):
        quantise(result, "int16x8", None)


@pytest.mark.parametrize(
    ("level", "ranges", "text"), [("int7", "mse", "no such level"), ("int8", "best", "no such way")]
)
def test_unknown_words(level: str, ranges: str, text: str) -> None:
    make = cnn()
    with pytest.raises(UsageError, match=text):
        quantise(make.graph, level, make.samples(), ranges=ranges)


def test_calibration_is_needed() -> None:
    with pytest.raises(UsageError, match="none were given"):
        quantise(cnn().graph, "int8", None)


def test_activations_that_overflow_are_named() -> None:
    make = Maker()
    x = make.node("mul", make.input(1, 4), make.constant(np.full(4, 3e38)))
    make.graph.nodes[0].origin = "'boom' (Mul)"
    make.done(make.node("mul", x, x))
    with pytest.raises(InputError, match="'boom'"):
        quantise(make.graph, "int8", {"in": np.full((4, 1, 4), 1e3, np.float32)})


def test_same_input_same_graph() -> None:
    texts = set()
    for _ in range(2):
        make = cnn()
        texts.add(to_text(quantise(make.graph, "int8", make.samples())))
    assert len(texts) == 1


def test_random_graphs_stay_whole_and_near() -> None:
    for seed in range(20):
        graph, samples = random_graph(seed)
        result = quantise(graph, "int8", samples)
        verify(result)
        assert min(sqnr(graph, result, samples)) > 12, to_text(graph)


def random_graph(seed: int) -> tuple[Graph, dict[str, np.ndarray]]:
    make = Maker(seed)
    values = [make.input(1, 6, 6, 4)]
    for _ in range(int(make.random.integers(3, 9))):
        x = values[make.random.integers(len(values))]
        kind = make.random.choice(["conv", "depthwise", "add", "mul", "concat", "tanh", "pool", "pad"])
        if kind == "conv":
            values.append(make.conv(x, 4))
        elif kind == "depthwise" and make.graph.type(x).shape[-1] == 4:
            values.append(make.depthwise(x))
        elif kind in ("add", "mul"):
            same = [v for v in values if make.graph.type(v).shape == make.graph.type(x).shape]
            values.append(make.node("add" if kind == "add" else "mul", x, same[make.random.integers(len(same))]))
        elif kind == "concat":
            same = [v for v in values if make.graph.type(v).shape == make.graph.type(x).shape]
            joined = make.node("concat", x, same[make.random.integers(len(same))], axis=3)
            values.append(make.conv(joined, 4, 1))
        elif kind == "tanh":
            values.append(make.node("tanh", x))
        elif kind == "pool":
            values.append(make.node("max_pool2d", x, kernel=(3, 3), stride=(1, 1), padding=(1, 1, 1, 1)))
        else:
            padded = make.node("pad", x, padding=((0, 0), (1, 0), (0, 1), (0, 0)), value=0.0)
            values.append(make.conv(padded, 4, 2, padding=(0, 0, 0, 0)))
    outputs = [v for v in values[1:] if not make.graph.consumers(v)] or values[-1:]
    return make.done(*outputs), make.samples()
