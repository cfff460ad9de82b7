"""Small TFLite models that tests and the fuzzer share."""

from __future__ import annotations

import numpy as np

from tests.unit.frontends.tflite_build import TfliteModel, small_cnn


def binary(kind: str, constant: float) -> TfliteModel:
    """[1, 3] -> [1, 3]: the input and a constant."""
    inner = TfliteModel()
    x = inner.tensor([1, 3])
    inner.op(kind, [x, inner.constant(np.full((1, 3), constant, "f4"))], [inner.tensor([1, 3])], activation="NONE")
    return inner


def counting(trips: int, step: int = 1) -> TfliteModel:
    """x * 1.5 ** trips by a loop with a counter."""
    condition = TfliteModel()
    i = condition.tensor([], "int32")
    condition.tensor([1, 3])
    condition.op("LESS", [i, condition.constant(np.array(trips, "i4"))], [condition.tensor([], "bool")])
    body = TfliteModel()
    i, x = body.tensor([], "int32"), body.tensor([1, 3])
    after = body.tensor([], "int32"), body.tensor([1, 3])
    body.op("ADD", [i, body.constant(np.array(step, "i4"))], [after[0]], activation="NONE")
    body.op("MUL", [x, body.constant(np.full((1, 3), 1.5, "f4"))], [after[1]], activation="NONE")
    model = TfliteModel()
    x, start = model.tensor([1, 3]), model.constant(np.array(0, "i4"))
    out = model.tensor([], "int32"), model.tensor([1, 3])
    numbers = model.subgraph(condition, [0, 1], [3]), model.subgraph(body, [0, 1], list(after))
    model.op("WHILE", [start, x], list(out), cond_subgraph=numbers[0], body_subgraph=numbers[1])
    return model


def branching(condition: np.ndarray | None) -> tuple[TfliteModel, list[int]]:
    """x + 2 or x * 3; its inputs. ``condition``: a constant, or None for an input."""
    model = TfliteModel()
    x = model.tensor([1, 3])
    flag = model.tensor([1], "bool") if condition is None else model.constant(condition)
    out = model.tensor([1, 3])
    numbers = model.subgraph(binary("ADD", 2.0), [0], [2]), model.subgraph(binary("MUL", 3.0), [0], [2])
    model.op("IF", [flag, x], [out], then_subgraph=numbers[0], else_subgraph=numbers[1])
    return model, [x, flag] if condition is None else [x]


def streaming(*, initial: bool) -> tuple[TfliteModel, list[int], list[int]]:
    """A variable: y = x + v, then v = y."""
    model = TfliteModel()
    x, handle = model.tensor([1, 3]), model.tensor([], "RESOURCE")
    if initial:
        inner = TfliteModel()
        inside = inner.tensor([], "RESOURCE")
        inner.op("VAR_HANDLE", [], [inside], container="", shared_name="v")
        inner.op("ASSIGN_VARIABLE", [inside, inner.constant(np.array([[1.0, 2.0, 3.0]], "f4"))], [])
        model.op("CALL_ONCE", [], [], init_subgraph=model.subgraph(inner, [], []))
    model.op("VAR_HANDLE", [], [handle], container="", shared_name="v")
    old, y = model.tensor([1, 3]), model.tensor([1, 3])
    model.op("READ_VARIABLE", [handle], [old])
    model.op("ADD", [x, old], [y], activation="NONE")
    model.op("ASSIGN_VARIABLE", [handle, y], [])
    return model, [x], [y]


def sparse_model(layout, values, shape=(3, 4)) -> tuple[TfliteModel, int]:
    """x [1, 4] times a sparse matrix [3, 4]; the output's number. ``layout``: see `TfliteModel.tensor`."""
    model = TfliteModel()
    x = model.tensor([1, 4])
    sparse = model.tensor(list(shape), raw=np.asarray(values, "f4").tobytes(), sparse=layout)
    whole, y = model.tensor([3, 4]), model.tensor([1, 3])
    model.op("DENSIFY", [sparse], [whole])
    model.op("FULLY_CONNECTED", [x, whole, -1], [y], activation="NONE")
    return model, y


def pack(values: np.ndarray, bits: int) -> bytes:
    """Fields from the low end of each byte."""
    per_byte = 8 // bits
    padded = np.concatenate([values.ravel(), np.zeros(-values.size % per_byte, np.int64)]).reshape(-1, per_byte)
    return bytes(int(sum((int(v) & (1 << bits) - 1) << bits * i for i, v in enumerate(row))) for row in padded)


def hybrid() -> tuple[TfliteModel, list[int], list[int]]:
    """Float activations, int8 and int4 weights."""
    rng = np.random.default_rng(2)
    model = TfliteModel()
    x, hidden, y = model.tensor([1, 6]), model.tensor([1, 4]), model.tensor([1, 3])
    first = model.constant(rng.integers(-127, 128, (4, 6)).astype("i1"), scale=[0.01, 0.02, 0.03, 0.04])
    second = model.tensor([3, 4], "INT4", raw=pack(rng.integers(-8, 8, (3, 4)), 4), scale=0.1)
    model.op("FULLY_CONNECTED", [x, first, -1], [hidden], activation="RELU")
    model.op("FULLY_CONNECTED", [hidden, second, -1], [y], activation="NONE")
    return model, [x], [y]


def seeds() -> list[bytes]:
    """Valid files of every kind of storage and control that the reader knows."""
    found = []
    for quantised in (False, True):
        model = small_cnn(quantised=quantised)
        found.append(model.to_bytes([0], [len(model.tensors) - 1]))
    found.append(counting(3).to_bytes([0], [3]))
    for condition in (np.array([True]), None):
        model, inputs = branching(condition)
        found.append(model.to_bytes(inputs, [2]))
    found.append(TfliteModel.to_bytes(*streaming(initial=True)))
    model, y = sparse_model(([0, 1, 2], [1], [3, ([0, 2, 2, 4], [0, 1, 0, 1]), 2]), [1, 0, 0, 2, 0, 3, 4, 0])
    found.append(model.to_bytes([0], [y]))
    found.append(TfliteModel.to_bytes(*hybrid()))
    return found
