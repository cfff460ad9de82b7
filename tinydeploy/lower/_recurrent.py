"""What the recurrent kernels share: parameters of activations and biases, states, and when bytes are touched."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from tinydeploy.ir import Elem
from tinydeploy.lower._contract import (
    AccessPlan,
    Argument,
    Call,
    Cost,
    In,
    LowerContext,
    Offer,
    Out,
    Params,
    ParamsArg,
    Scratch,
    Span,
    Symbol,
    Tab,
    Table,
)
from tinydeploy.lower._operands import operands
from tinydeploy.ops import _recurrent

_STEPS = 4096  # steps of an access plan at most
_LETTERS = "fgh"  # members of the C structs, in the order of the operator's activations


def recurrent_offer(
    ctx: LowerContext, kernel: str, states: int, scratch: int, extra: dict[str, int | float], peephole: bool = False
) -> list[Offer]:
    """The offer of a recurrent node in float32, where its bias and peepholes are constants.

    ``states``: how many the operator has (inputs 4 on, outputs 1 on). ``scratch``: floats for each hidden unit.
    ``extra``: more fields of the C struct.
    """
    sig = ctx.signature
    others = (*sig.inputs[:1], *sig.inputs[3:])
    weights = _weights(ctx)
    if weights is None or any(kind is not None and kind.elem is not Elem.F32 for kind in others):
        return []
    fixed = {"bias": 3, "peephole": 6} if peephole else {"bias": 3}
    if any(_is_computed(ctx, index) for index in fixed.values()):
        return []
    tables = [
        Table(name, "float", data.astype(np.float32).ravel())
        for name, index in fixed.items()
        if (data := ctx.constant(index)) is not None
    ]
    given = {table.name for table in tables}
    steps, batch, inputs = sig.input(0).shape
    hidden = sig.input(2).shape[1]
    fields: list[tuple[str, int | float | str | Symbol]] = [
        *(("steps", steps), ("batch", batch), ("inputs", inputs), ("hidden", hidden)),
        ("clip", float(np.float32(getattr(ctx.node.op, "clip", 0.0)))),
        ("bias", "bias" if "bias" in given else 0),
        *_activations(ctx.node.op),
        ("every_step", int(getattr(ctx.node.op, "every_step", True))),
        *extra.items(),
        *((("peephole", "peephole" if "peephole" in given else 0),) if peephole else ()),
    ]
    first, starts = operands(ctx, ("h0", "c0")[:states], first=4)
    size = batch * hidden
    begin = [Call("td_state_begin", (first[i], size, Out(1 + i))) for i in range(states)]
    outs: tuple[Argument, ...] = tuple(Out(i) for i in range(1 + states))
    form = kernel + weights.suffix
    run = Call(f"td_{form}", (ParamsArg(), In(0), *weights.arguments, *outs, Scratch()))
    macs = ctx.node.op.macs(sig)
    return [
        Offer(
            kernel=form,
            call=dataclasses.replace(begin[0], then=(*begin[1:], run)),
            access=recurrent_access(ctx, states),
            headers=("td_recurrent.h",),
            sources=(f"td_{kernel}.c", "td_recurrent.c", "td_activations.c", "td_math.c"),
            tables=(*tables, *weights.tables, *starts),
            params=Params(f"td_{kernel.removesuffix('_f32')}_params", tuple(fields)),
            scratch_bytes=4 * scratch * hidden,
            cost=Cost(4 * macs + 250 * steps * size, 6 * macs + 400 * steps * size),
        )
    ]


@dataclasses.dataclass(frozen=True)
class _Weights:
    """Both matrices as arguments: float32, or as constants of int8 with the scales of their rows."""

    suffix: str
    arguments: tuple[Argument, ...]
    tables: tuple[Table, ...]


def _weights(ctx: LowerContext) -> _Weights | None:
    kinds = (ctx.signature.input(1), ctx.signature.input(2))
    if all(kind.elem is Elem.F32 for kind in kinds):
        return _Weights("", *operands(ctx, ("w", "r"), first=1))
    arguments: list[Argument] = []
    tables: list[Table] = []
    for index, (name, kind) in enumerate(zip(("w", "r"), kinds, strict=True), start=1):
        data, quant = ctx.constant(index), kind.quant
        if data is None or kind.elem is not Elem.S8 or quant is None or quant.axis not in (None, 0):
            return None
        scales = np.broadcast_to(quant.scales(), (kind.shape[0],))
        if any(quant.zero_point) or np.any(scales.astype(np.float32) != scales):
            return None
        tables.append(Table(name, "int8_t", data.astype(np.int8).ravel()))
        tables.append(Table(f"{name}_scale", "float", scales.astype(np.float32)))
        arguments += [Tab(name), Tab(f"{name}_scale")]
    return _Weights("_w8", tuple(arguments), tuple(tables))


def _is_computed(ctx: LowerContext, index: int) -> bool:
    given = index < len(ctx.node.inputs) and ctx.node.inputs[index] is not None
    return given and ctx.constant(index) is None


def _activations(op: Any) -> list[tuple[str, int | float | str | Symbol]]:
    fields: list[tuple[str, int | float | str | Symbol]] = []
    for letter, (name, alpha, beta) in zip(_LETTERS, _recurrent.constants_of(op), strict=False):
        fields += [
            (f"{letter}.apply", Symbol(f"td_act_{name}")),
            (f"{letter}.alpha", float(np.float32(alpha))),
            (f"{letter}.beta", float(np.float32(beta))),
        ]
    return fields


def recurrent_access(ctx: LowerContext, states: int) -> AccessPlan:
    """One step a state that begins, then the time steps: x and y row by row, everything else whole."""
    sig = ctx.signature
    steps = sig.input(0).shape[0]
    count = states + steps
    every = -(-count // _STEPS)

    def rows(nbytes: int, length: int) -> Span:
        """A tensor of one row a step, or of one row in all."""
        at = np.minimum(np.arange(steps, dtype=np.int64), length - 1) * (nbytes // length)
        none = np.zeros(states, np.int64)
        return Span(np.append(none, at), np.append(none, at + nbytes // length)).hulls(every)

    def when(nbytes: int, first: int, last: int = count) -> Span:
        active = (step >= first) & (step <= last)
        return Span(np.zeros(count, np.int64), np.where(active, nbytes, 0)).hulls(every)

    step = np.arange(count, dtype=np.int64)
    reads: list[Span | None] = []
    for index, kind in enumerate(sig.inputs):
        if kind is None or ctx.constant(index) is not None:
            reads.append(None)
        elif index == 0:
            reads.append(rows(kind.nbytes, steps))
        else:
            reads.append(when(kind.nbytes, index - 4, index - 4) if index >= 4 else when(kind.nbytes, states))
    kept = [when(kind.nbytes, i) for i, kind in enumerate(sig.outputs[1:])]
    return AccessPlan(tuple(reads), (rows(sig.outputs[0].nbytes, sig.outputs[0].shape[0]), *kept), reads_first=False)
