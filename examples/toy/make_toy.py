"""Writes toy.onnx: two inputs, two outputs, a state and a 1-D convolution, with random weights; and data for it.

A step takes `audio` [1, 4, 16] (channels, time), `gain` [1, 8] and the state `h_in` [1, 8], and gives `scores` [1, 3],
`energy` [1, 8] and the next state `h_out`. Convert it with `--state h_in=h_out`.
"""

from __future__ import annotations

import argparse
import pathlib
from typing import Any

import numpy as np
import numpy.typing as npt

SEED = 0
CHANNELS, LENGTH, HIDDEN, CLASSES = 4, 16, 8, 3
SAMPLES, STEPS = 32, 12


def build() -> Any:
    """Return the ONNX model."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    generator = np.random.default_rng(SEED)
    constants: list[Any] = []

    def random(name: str, *shape: int) -> str:
        data = generator.normal(0, 1 / np.sqrt(max(np.prod(shape[1:]), 4)), shape).astype(np.float32)
        constants.append(numpy_helper.from_array(data, name))
        return name

    def tensor(name: str, *shape: int) -> Any:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    node = helper.make_node
    nodes = [
        node("Conv", ["audio", random("conv.weight", HIDDEN, CHANNELS, 3), random("conv.bias", HIDDEN)], ["conv"],
             name="conv", kernel_shape=[3], pads=[1, 1], strides=[2]),
        node("Relu", ["conv"], ["active"], name="relu"),
        node("GlobalAveragePool", ["active"], ["pooled"], name="pool"),
        node("Flatten", ["pooled"], ["features"], name="flatten", axis=1),
        node("Mul", ["features", "gain"], ["energy"], name="energy"),
        node("Gemm", ["energy", random("in.weight", HIDDEN, HIDDEN), random("in.bias", HIDDEN)], ["fresh"],
             name="in", transB=1),
        node("Gemm", ["h_in", random("back.weight", HIDDEN, HIDDEN), random("back.bias", HIDDEN)], ["kept"],
             name="back", transB=1),
        node("Add", ["fresh", "kept"], ["sum"], name="sum"),
        node("Tanh", ["sum"], ["h_out"], name="tanh"),
        node("Gemm", ["h_out", random("out.weight", CLASSES, HIDDEN), random("out.bias", CLASSES)], ["logits"],
             name="out", transB=1),
        node("Softmax", ["logits"], ["scores"], name="softmax", axis=1),
    ]  # fmt: skip
    graph = helper.make_graph(
        nodes,
        "toy",
        [tensor("audio", 1, CHANNELS, LENGTH), tensor("gain", 1, HIDDEN), tensor("h_in", 1, HIDDEN)],
        [tensor("scores", 1, CLASSES), tensor("energy", 1, HIDDEN), tensor("h_out", 1, HIDDEN)],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    return model


def sequences() -> dict[str, npt.NDArray[np.float32]]:
    """Random samples, each a sequence of steps: `audio` [32, 12, 4, 16] and `gain` [32, 12, 8]."""
    generator = np.random.default_rng(SEED + 1)
    return {
        "audio": generator.normal(0, 1, (SAMPLES, STEPS, CHANNELS, LENGTH)).astype(np.float32),
        "gain": generator.uniform(0, 2, (SAMPLES, STEPS, HIDDEN)).astype(np.float32),
    }


def main() -> None:
    """Write toy.onnx and toy_calibration.npz."""
    import onnx

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--out", type=pathlib.Path, default=pathlib.Path("out"))
    folder: pathlib.Path = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(build(), str(folder / "toy.onnx"))
    np.savez_compressed(folder / "toy_calibration.npz", **sequences())
    print(f"toy.onnx and toy_calibration.npz in {folder}")


if __name__ == "__main__":
    main()
