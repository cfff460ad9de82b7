"""Normalisations and recurrent layers of ONNX against ONNX Runtime, option by option."""

import numpy as np
import pytest

from tests.conftest import need_module
from tests.unit.frontends.onnx_build import check, model, save
from tinydeploy.errors import UnsupportedError
from tinydeploy.frontends.onnx import load

RNG = np.random.default_rng(5)


def node(kind, inputs=("x",), outputs=("y",), **attributes):
    """One ONNX node."""
    need_module("onnx")
    from onnx import helper

    return helper.make_node(kind, list(inputs), list(outputs), **attributes)


def weights(*shape, scale=0.5):
    """Ordinary weights."""
    return RNG.normal(0, scale, shape).astype(np.float32)


@pytest.mark.parametrize("opset", [11, 13, 17])
@pytest.mark.parametrize("axis", [-1, 0, 1, 2])
@pytest.mark.parametrize("kind", ["Softmax", "LogSoftmax"])
def test_softmax(tmp_path, kind, axis, opset):
    check(model([node(kind, axis=axis)], {"x": (2, 3, 5)}, ["y"], opset=opset), tmp_path)


@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("axis", [-1, 1])
def test_hardmax(tmp_path, axis, opset):
    check(model([node("Hardmax", axis=axis)], {"x": (2, 3, 5)}, ["y"], opset=opset), tmp_path)


@pytest.mark.parametrize(
    ("made", "shape", "constants", "opset"),
    [
        (lambda: node("InstanceNormalization", ("x", "s", "b"), epsilon=1e-3), (2, 4, 5), (4, 4), 17),
        (lambda: node("InstanceNormalization", ("x", "s", "b")), (1, 3, 4, 5), (3, 3), 7),
        (lambda: node("InstanceNormalization", ("x", "s", "b")), (1, 3, 4, 5, 2), (3, 3), 22),
        (lambda: node("GroupNormalization", ("x", "s", "b"), num_groups=2), (2, 6, 3, 4), (6, 6), 21),
        (lambda: node("GroupNormalization", ("x", "s", "b"), num_groups=3), (2, 6, 5), (6, 6), 22),
        (lambda: node("BatchNormalization", ("x", "s", "b", "m", "v")), (2, 6, 3, 4), (6, 6, 6, 6), 9),
        (lambda: node("BatchNormalization", ("x", "s", "b", "m", "v")), (3, 6), (6, 6, 6, 6), 15),
        (lambda: node("LayerNormalization", ("x", "s", "b"), axis=-2), (2, 3, 4, 5), ((4, 5), (4, 5)), 17),
        (lambda: node("LayerNormalization", ("x", "s")), (2, 3, 5), (5,), 17),
        (lambda: node("LRN", size=3, alpha=0.1, beta=0.6, bias=2.0), (1, 7, 3, 4), (), 13),
        (lambda: node("LRN", size=5), (2, 3, 4, 4), (), 13),
        (lambda: node("LpNormalization", p=2, axis=1), (2, 3, 5), (), 13),
        (lambda: node("LpNormalization", p=1, axis=-1), (2, 3, 5), (), 22),
        (lambda: node("MeanVarianceNormalization"), (2, 3, 4, 5), (), 13),
        (lambda: node("MeanVarianceNormalization", axes=[1, 3]), (2, 3, 4, 5), (), 9),
    ],
)
def test_normalisation(tmp_path, made, shape, constants, opset):
    names = dict(zip("sbmv", constants, strict=False))
    sizes = {name: (size,) if isinstance(size, int) else size for name, size in names.items()}
    given = {name: np.abs(weights(*size)) + 0.5 for name, size in sizes.items()}
    check(model([made()], {"x": shape}, ["y"], given, opset=opset), tmp_path)


def test_layer_normalisation_with_its_statistics(tmp_path):
    made = node("LayerNormalization", ("x", "s"), ("y", "mean", "inverse"), axis=1)
    check(model([made], {"x": (2, 3, 5)}, ["y", "mean", "inverse"], {"s": weights(3, 5)}), tmp_path)


def test_training_is_refused(tmp_path):
    made = node("BatchNormalization", ("x", "s", "b", "m", "v"), ("y", "rm", "rv"), training_mode=1)
    path = save(model([made], {"x": (2, 3, 4)}, ["y"], {name: weights(3) for name in "sbmv"}), tmp_path)
    with pytest.raises(UnsupportedError, match="training_mode"):
        load(path)


GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
STATES = {"LSTM": 2, "GRU": 1, "RNN": 1}
OUTPUTS = ["y", "y_h", "y_c"]


def recurrent(kind, *, directions=1, batch_first=False, initial=False, lengths=False, peephole=False, **attributes):
    """A model of one recurrent node: 6 steps, 2 samples, 3 features, 4 units."""
    steps, batch, inputs, hidden = 6, 2, 3, 4
    gates, states = GATES[kind], STATES[kind]
    given = {
        "w": weights(directions, gates * hidden, inputs),
        "r": weights(directions, gates * hidden, hidden),
        "b": weights(directions, 2 * gates * hidden),
    }
    names = ["x", "w", "r", "b", "lengths" if lengths else ""]
    shapes = {"x": (batch, steps, inputs) if batch_first else (steps, batch, inputs)}
    if lengths:
        given["lengths"] = np.full(batch, steps, np.int32)
    for state in ("h0", "c0")[:states]:
        names.append(state if initial else "")
        if initial:
            shapes[state] = (batch, directions, hidden) if batch_first else (directions, batch, hidden)
    if peephole:
        names.append("p")
        given["p"] = weights(directions, 3 * hidden)
    outputs = OUTPUTS[: 1 + states]
    made = node(kind, names, outputs, hidden_size=hidden, layout=int(batch_first), **attributes)
    return model([made], shapes, outputs, given, opset=14)


ACTIVATIONS = {
    "LSTM": ["HardSigmoid", "LeakyRelu", "Softsign"],
    "GRU": ["HardSigmoid", "LeakyRelu"],
    "RNN": ["Elu"],
}


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"direction": "reverse", "initial": True},
        {"direction": "bidirectional", "directions": 2, "initial": True},
        {"lengths": True, "clip": 0.3},
    ],
    ids=lambda options: "-".join(map(str, options.values())) or "plain",
)
def test_recurrent(tmp_path, kind, options):
    check(recurrent(kind, **options), tmp_path)


@pytest.mark.parametrize("kind", GATES)
def test_activations(tmp_path, kind):
    names = ACTIVATIONS[kind]
    check(recurrent(kind, activations=names), tmp_path)
    check(recurrent(kind, activations=names, activation_alpha=[0.3] * len(names)), tmp_path)


@pytest.mark.parametrize("name", ["Relu", "Affine", "ThresholdedRelu", "Elu", "Softplus", "Sigmoid", "ScaledTanh"])
def test_every_activation(tmp_path, name):
    constants = {"activation_alpha": [0.4]} if name == "ThresholdedRelu" else {}
    if name in ("Affine", "ScaledTanh"):
        with pytest.raises(UnsupportedError, match="has no constants"):
            load(save(recurrent("RNN", activations=[name]), tmp_path))
        constants = {"activation_alpha": [0.4], "activation_beta": [0.2]}
    check(recurrent("RNN", activations=[name], **constants), tmp_path)


def test_constants_of_both_directions(tmp_path):
    names = ["LeakyRelu", "ThresholdedRelu"]
    check(
        recurrent("RNN", activations=names, activation_alpha=[0.4, 0.1], direction="bidirectional", directions=2),
        tmp_path,
    )


@pytest.mark.parametrize("initial", [False, True])
def test_peepholes_and_coupled_gates(tmp_path, initial):
    check(recurrent("LSTM", peephole=True, initial=initial), tmp_path)
    check(recurrent("LSTM", peephole=True, clip=0.5), tmp_path)
    check(recurrent("LSTM", input_forget=1), tmp_path)


@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_linear_before_reset(tmp_path, direction):
    directions = 2 if direction == "bidirectional" else 1
    check(recurrent("GRU", linear_before_reset=1, direction=direction, directions=directions), tmp_path)


def test_lengths_shorter_than_the_input_are_refused(tmp_path):
    made = recurrent("GRU", lengths=True)
    made.graph.initializer[-1].int32_data[:] = []
    made.graph.initializer[-1].raw_data = np.array([6, 5], np.int32).tobytes()
    with pytest.raises(UnsupportedError, match="sequence_lens are"):
        load(save(made, tmp_path))
