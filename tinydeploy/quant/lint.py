"""Looks at calibration data for what is known to spoil a quantisation, and says what to do about it."""

from __future__ import annotations

import hashlib
import math

import numpy as np

from tinydeploy.ir import Array, Elem, Graph

FEW_SAMPLES = 10
_MANY_CLASSES = 1000


def warnings(graph: Graph, feeds: dict[str, Array]) -> list[str]:
    """Texts about calibration samples (by input name, samples first); only what can be known from them."""
    count = len(next(iter(feeds.values())))
    found = []
    if count < FEW_SAMPLES:
        found.append(
            f"calibration: only {count} {'sample' if count == 1 else 'samples'}; ranges from so few are chance: "
            "give 50 to 500 that are as varied as what the model will see"
        )
    found += _narrow(graph, count)
    found += _duplicates(feeds, count)
    for name, array in feeds.items():
        found += _constant(name, array, count)
    return found


def class_warnings(graph: Graph, votes: dict[str, Array], feeds: dict[str, Array]) -> list[str]:
    """Texts about which classes the float model sees in the calibration samples.

    ``votes``: its arg-max by output name, one a sample. Silent where the model is no plain classifier.
    """
    if len(graph.outputs) != 1 or graph.states:
        return []
    name = graph.outputs[0]
    kind = graph.type(name)
    classes = max(kind.shape, default=1)
    if kind.elem is not Elem.F32 or kind.size != classes or not 2 <= classes <= _MANY_CLASSES:
        return []
    top = votes[name]
    count = len(top)
    if count < FEW_SAMPLES or not _is_classifier(graph, name):
        return []
    counts = np.bincount(top, minlength=classes)
    if counts.max() == count:
        text = f"calibration: the float model says class {top[0]} for all {count} samples"
        return [f"{text}: check their scale, their layout and that all classes are among them{_whole(feeds)}"]
    missing = [str(i) for i in np.flatnonzero(counts == 0)]
    if missing and count >= 5 * classes:
        return [
            f"calibration: the float model finds none of class {', '.join(missing)} in {count} samples: "
            "add samples of it, or its accuracy is left to chance"
        ]
    if counts.max() > 0.5 * count and classes >= 4:
        return [
            f"calibration: {counts.max()} of {count} samples are class {counts.argmax()} to the float model: "
            "balance the classes, a quantised model drifts to what it was calibrated on"
        ]
    return []


def _is_classifier(graph: Graph, name: str) -> bool:
    """True if the output is scores over classes: softmax, or a dense layer that is not an autoencoder's."""
    node = graph.producer(name)
    while node is not None and node.op.name in ("reshape", "dequantize"):
        node = None if node.inputs[0] is None else graph.producer(node.inputs[0])
    if node is None:
        return False
    if node.op.name in ("softmax", "log_softmax"):
        return True
    width = graph.type(name).size
    return node.op.name == "fully_connected" and all(graph.type(n).size != width for n in graph.inputs)


def _whole(feeds: dict[str, Array]) -> str:
    """A remark if the data look like raw pixels."""
    for name, array in feeds.items():
        if array.min() >= 0 and 2 < array.max() <= 255 and np.array_equal(array, np.rint(array)):
            scale = f"--input-scale {name}=0.00392157,0 maps 0..255 to 0..1"
            return f" ('{name}' holds whole numbers up to {array.max():g}; {scale})"
    return ""


def _narrow(graph: Graph, count: int) -> list[str]:
    """Dense layers that are much wider than the number of vectors they will see."""
    found = []
    for node in graph.nodes:
        if node.op.name != "fully_connected":
            continue
        kind = graph.type(str(node.inputs[0]))
        width = kind.shape[-1]
        vectors = count * math.prod(kind.shape[:-1])
        if count >= FEW_SAMPLES and vectors < width / 8:
            found.append((width, vectors, node.origin or node.name))
    if not found:
        return []
    width, vectors, where = max(found)
    return [
        f"calibration: {vectors} vectors for the {width} inputs of {where}: "
        f"ranges will do, corrections of its weights will not; {width} samples or more are better"
    ]


def _duplicates(feeds: dict[str, Array], count: int) -> list[str]:
    seen = {
        hashlib.sha256(b"".join(np.ascontiguousarray(array[i]).tobytes() for array in feeds.values())).digest()
        for i in range(count)
    }
    extra = count - len(seen)
    if extra == 0 or extra < 0.05 * count:
        return []
    if len(seen) == 1:
        return [f"calibration: all {count} samples are the same; ranges are those of one sample"]
    return [f"calibration: {extra} of {count} samples are copies of others; they add nothing"]


def _constant(name: str, array: Array, count: int) -> list[str]:
    flat = array.reshape(count, -1)
    found = []
    if flat.shape[1] > 1:
        blank = int((flat.max(axis=1) == flat.min(axis=1)).sum())
        if blank:
            found.append(f"calibration: '{name}' is one and the same value throughout in {blank} of {count} samples")
    channels = array.shape[-1]
    if array.ndim >= 3 and 1 < channels <= 64 and count > 1:
        rows = array.reshape(-1, channels)
        dead = np.flatnonzero(rows.max(axis=0) == rows.min(axis=0))
        if 0 < len(dead) < channels:
            listed = ", ".join(str(i) for i in dead[:8])
            found.append(f"calibration: '{name}' never changes at {listed} of its last axis")
    return found
