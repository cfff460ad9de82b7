"""Finds the kernels, asks each for its offers and chooses one for every node."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from typing import Literal

from tinydeploy.errors import InternalError, Problem, UnsupportedError
from tinydeploy.ir import Elem, Graph, Node
from tinydeploy.lower import kernels
from tinydeploy.lower._contract import DENSE, LowerContext, Lowered, Offer, Offers, Target
from tinydeploy.lower._linear import LINEAR_RULE
from tinydeploy.ops._op import is_tied
from tinydeploy.ops.concat import Concat
from tinydeploy.target.cpu import get_cpu


class NoKernelError(UnsupportedError):
    """No kernel runs some nodes: ``nodes``, one a problem."""

    def __init__(self, nodes: list[Node], problems: list[Problem]) -> None:
        super().__init__(problems)
        self.nodes = nodes


def target_for(cpu: str, optimize: Literal["size", "balanced", "speed"] = "balanced") -> Target:
    """The target of a core's name as in `target.cpu.CPUS` ("cortex-m4f", "host").

    Raises: UsageError for an unknown core.
    """
    core = get_cpu(cpu)
    return Target(core.name, core.klass, core.name == "host" or "thumb2" in core.needs, optimize)


@functools.cache
def _modules() -> dict[str, dict[str, Offers]]:
    """By operator: the `offers` functions of the modules of `lower/kernels/`, by module name."""
    found: dict[str, dict[str, Offers]] = {}
    for info in sorted(pkgutil.iter_modules(kernels.__path__), key=lambda m: m.name):
        if not info.name.startswith("_"):
            module = importlib.import_module(f"{kernels.__name__}.{info.name}")
            for operator in (module.OPERATOR,) if hasattr(module, "OPERATOR") else module.OPERATORS:
                found.setdefault(operator, {})[info.name] = module.offers
    return found


def kernel_names() -> dict[str, list[str]]:
    """Names of the kernel modules of each operator."""
    return {operator: list(modules) for operator, modules in _modules().items()}


def lower(graph: Graph, target: Target) -> list[Lowered]:
    """Choose a kernel for every node of a quantised graph, in order of execution.

    Raises: NoKernelError with every node that no kernel can run.
    """
    lowered: list[Lowered] = []
    left: list[Node] = []
    for node in graph.nodes:
        ranked = rank(offers_for(LowerContext(graph, node, target)), target)
        if ranked:
            lowered.append(Lowered(node, ranked[0], tuple(ranked[1:])))
        else:
            left.append(node)
    if left:
        raise NoKernelError(left, [_refusal(graph, node) for node in left])
    check_encodings(graph, lowered)
    return lowered


def offers_for(ctx: LowerContext) -> list[Offer]:
    """Every offer any kernel makes for a node; none for one that only moves data between different scales."""
    op = ctx.node.op
    if op.quant.ties and not isinstance(op, Concat) and not is_tied(ctx.signature):
        return []  # it runs in float, between conversions
    return [offer for function in _modules().get(ctx.node.op.name, {}).values() for offer in function(ctx)]


def rank(offers: list[Offer], target: Target) -> list[Offer]:
    """Best first: least cycles, or for "size" the least constants and then cycles."""
    if target.optimize == "size":
        return sorted(offers, key=lambda o: (o.weights_bytes, o.cost.cycles, o.scratch_bytes, o.kernel))
    return sorted(offers, key=lambda o: (o.cost.cycles, o.weights_bytes, o.scratch_bytes, o.kernel))


def _refusal(graph: Graph, node: Node) -> Problem:
    inputs = ", ".join("absent" if name is None else str(graph.type(name)) for name in node.inputs)
    outputs = ", ".join(str(graph.type(name)) for name in node.outputs)
    rule, hint = _what_kernels_take(graph, node)
    return Problem(
        where=node.origin or f"node {node.name!r}",
        what=f"no kernel runs {node.op.name} ({inputs}) -> ({outputs})",
        rule=rule,
        hint=hint,
    )


def _what_kernels_take(graph: Graph, node: Node) -> tuple[str, str]:
    """Rule and hint for a node that no kernel runs: what most likely stands in the way."""
    kinds = [graph.type(name) for name in (*node.inputs, *node.outputs) if name is not None]
    wide = [kind.elem.value for kind in kinds if kind.elem.is_float and kind.elem is not Elem.F32]
    if wide:
        return f"floats are float32, not {wide[0]}", "export the model in float32"
    hint = f"`tinydeploy ops {node.op.name}` shows what the operator may be; replace it or change its scales"
    return (LINEAR_RULE if node.op.quant.weights is not None else ""), hint


def check_encodings(graph: Graph, lowered: list[Lowered]) -> None:
    """Every edge has one layout: what a kernel writes is what the next one reads, and the outside is dense."""
    written = dict.fromkeys(graph.inputs, DENSE)
    faults: list[Problem] = []
    for low in lowered:
        node, offer = low.node, low.offer
        for index, name in enumerate(node.inputs):
            wanted = offer.inputs[index] if index < len(offer.inputs) else DENSE
            if name is not None and written.get(name, DENSE) != wanted:
                faults.append(
                    Problem(f"value {name!r}", f"is written as {written[name]}, {node.name!r} reads {wanted}")
                )
        for index, name in enumerate(node.outputs):
            written[name] = offer.outputs[index] if index < len(offer.outputs) else DENSE
    faults += [
        Problem(f"output {n!r}", f"is left as {written[n]}") for n in graph.outputs if written.get(n, DENSE) != DENSE
    ]
    if faults:
        raise InternalError(faults)
