"""One validation: feed samples to the device, the integer twin and the float reference, and say how they compare."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from tinydeploy.ir import Array, Graph
from tinydeploy.ir.types import dequantise, quantise
from tinydeploy.ops import execute
from tinydeploy.ops.dequantize import Dequantize
from tinydeploy.ops.quantize import Quantize
from tinydeploy.validation import agree, compare

#: Relative. Float results are expected to be equal in every bit within a class of cores, this close across classes.
FLOAT_TOLERANCE = 1e-5


@dataclasses.dataclass(frozen=True)
class Samples:
    """What a validation is fed. ``fed``: by input name, in the model's own types, leading axis = samples (then steps
    where ``steps``). ``real``: the same as real numbers, float32 (integers without a scale stay). ``labels``: one a
    sample, or None.
    """

    fed: dict[str, Array]
    real: dict[str, Array]
    labels: Array | None
    steps: bool

    @property
    def count(self) -> int:
        """Number of samples."""
        return len(next(iter(self.fed.values())))


def prepare(graph: Graph, inputs: dict[str, Array], labels: Array | None) -> Samples:
    """Bring input arrays to the types of a quantised graph's inputs.

    Integer arrays of an input's own type are fed as they are; everything else is taken as real numbers and quantised.
    A sequence (`[samples, steps, ...]`, models with state) is recognised by its extra axis.
    """
    fed: dict[str, Array] = {}
    real: dict[str, Array] = {}
    steps = False
    for name in graph.inputs:
        kind, array = graph.type(name), np.asarray(inputs[name])
        steps = steps or array.ndim == kind.rank + 2
        if kind.quant is None:
            fed[name] = array.astype(kind.elem.dtype)
            real[name] = array.astype(np.float32) if kind.elem.is_float else fed[name]
        elif array.dtype == kind.elem.dtype:
            fed[name], real[name] = array, dequantise(array, kind)
        else:
            real[name] = array.astype(np.float32)
            fed[name] = quantise(real[name], kind)
    return Samples(fed, real, labels, steps)


def random_samples(graph: Graph, count: int, seed: int = 0) -> dict[str, Array]:
    """Random inputs in the model's own types: floats standard normal, indices within their axis, other integers over
    the whole range of their type.
    """
    generator = np.random.default_rng(seed)

    def draw(name: str) -> Array:
        kind = graph.type(name)
        shape = (count, *kind.shape)
        if kind.elem.is_float:
            return generator.standard_normal(shape).astype(kind.elem.dtype)
        return agree.integers(generator, graph, name, shape, whole=True)

    return {name: draw(name) for name in graph.inputs}


def figures(
    quantised: Graph,
    reference: Graph,
    samples: Samples,
    device: dict[str, Array],
    metric: str | None,
) -> dict[str, Any]:
    """Everything that does not depend on how the device ran: exactness, distance from float, metric."""
    from tinydeploy import metrics

    twin = execute.run_integer(quantised, samples.fed, steps=samples.steps)
    exact = compare.exactness(device, twin)
    floats = execute.run_float(reference, samples.real, steps=samples.steps)
    renamed = dict(zip(quantised.outputs, (floats[name] for name in reference.outputs), strict=True))
    real = compare.to_real(quantised, {name: device[name].reshape(twin[name].shape) for name in quantised.outputs})
    result: dict[str, Any] = {
        "samples": samples.count,
        "bit_exact": exact.bit_exact,
        "mismatches": exact.mismatches,
        "first_mismatch": None if exact.first is None else dataclasses.asdict(exact.first),
        "float_islands": _float_islands(quantised, device, twin),
        "float": compare.float_figures(real, renamed),
        "metric": None,
    }
    spec = metric or ("top1" if samples.labels is not None else None)
    if spec is not None:
        first = quantised.outputs[0]
        result["metric"] = metrics.evaluate(
            spec, renamed[first], real[first], samples.labels, samples.real[quantised.inputs[0]]
        )
    return result


def _float_islands(quantised: Graph, device: dict[str, Array], twin: dict[str, Array]) -> list[dict[str, Any]]:
    """Nodes that compute in float, with the largest relative error of their outputs against the twin.

    That is None for a node inside the model, whose outputs only a trace shows.
    """
    islands = []
    for node in quantised.nodes:
        if not all(quantised.type(name).elem.is_float for name in node.outputs):
            continue
        error = None
        if all(name in twin for name in node.outputs):
            error = max(
                compare.max_relative_error(device[name].reshape(twin[name].shape), twin[name]) for name in node.outputs
            )
        islands.append({"node": node.name, "tolerance": FLOAT_TOLERANCE, "max_rel_error": error})
    return islands


def _counterparts(quantised: Graph, reference: Graph) -> dict[str, str]:
    """The reference's value for the values of the quantised graph that have one.

    Quantising keeps names. The nodes it adds only change the form of a value, so what they read and what they write
    stand for the same one.
    """
    found = {
        name: name
        for name, value in quantised.values.items()
        if name in reference.values and reference.type(name).shape == value.type.shape
    }
    changes = [node for node in quantised.nodes if isinstance(node.op, (Quantize, Dequantize))]
    for node in changes:
        source, result = str(node.inputs[0]), node.outputs[0]
        if result not in found and source in found:
            found[result] = found[source]
    for node in reversed(changes):
        source, result = str(node.inputs[0]), node.outputs[0]
        if source not in found and result in found:
            found[source] = found[result]
    return found


def per_layer(quantised: Graph, reference: Graph, samples: Samples, limit: int = 32) -> list[dict[str, Any]]:
    """SQNR of every node's outputs against the float reference, over at most ``limit`` samples; nodes in their order.

    None where there is neither noise nor anything in the reference to compare with.
    """
    few = {name: array[:limit] for name, array in samples.fed.items()}
    few_real = {name: array[:limit] for name, array in samples.real.items()}
    pairs = _counterparts(quantised, reference)
    names = [name for node in quantised.nodes for name in node.outputs]
    shared = {pairs[name] for name in names if name in pairs}
    twin = execute.run_integer(quantised, few, keep=names, steps=samples.steps)
    floats = execute.run_float(reference, few_real, keep=shared, steps=samples.steps)
    rows = []
    for node in quantised.nodes:
        noise = None
        if all(name in pairs for name in node.outputs):
            got = [dequantise(twin[name], quantised.type(name)).ravel() for name in node.outputs]
            want = [floats[pairs[name]].ravel() for name in node.outputs]
            noise = compare.sqnr_db(np.concatenate(got), np.concatenate(want))
        rows.append({"name": node.name, "op": node.op.name, "sqnr_db": noise})
    return rows
