"""One linear form for the sum or difference of two int8 operands, proved against TFLite's three rescalings."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np

from tinydeploy.ir import Array
from tinydeploy.lower._broadcast import all_pairs, binary
from tinydeploy.lower._contract import Call, Cost, LowerContext, Offer, Out, Params, ParamsArg
from tinydeploy.ops._op import clamp_limits

_NEAR = 2  # steps of either factor tried around its rounded ratio


@dataclasses.dataclass(frozen=True)
class LinearSum:
    """``clamp((a * a_factor + b * b_factor + offset) >> shift)`` in int32."""

    a_factor: int
    b_factor: int
    offset: int
    shift: int


def solve(wanted: Array, ratios: tuple[float, float], low: int, high: int) -> LinearSum | None:
    """Find the form that gives ``wanted`` [256, 256] for all a, b = -128..127; None if there is none in int32.

    ``ratios``: real factors of a and b in output steps, signed. ``low``, ``high``: the clamp.
    """
    largest = 256 * (abs(ratios[0]) + abs(ratios[1])) + 256
    top = min(30, math.floor(math.log2((2**31 - 1) / largest)))
    for shift in range(top, max(top - 4, -1), -1):
        form = solve_at(wanted, ratios, low, high, shift)
        if form is not None:
            return form
    return None


def solve_at(wanted: Array, ratios: tuple[float, float], low: int, high: int, shift: int) -> LinearSum | None:
    """`solve` with a given shift."""
    guesses = [round(math.ldexp(ratio, shift)) for ratio in ratios]
    steps = sorted(itertools.product(range(-_NEAR, _NEAR + 1), repeat=2), key=lambda d: abs(d[0]) + abs(d[1]))
    for da, db in steps:
        offset = _offset(wanted, guesses[0] + da, guesses[1] + db, shift, low, high)
        if offset is not None:
            return LinearSum(guesses[0] + da, guesses[1] + db, offset, shift)
    return None


def _offset(wanted: Array, a: int, b: int, shift: int, low: int, high: int) -> int | None:
    room = 2**31 - 1 - 128 * (abs(a) + abs(b))  # so far from 0 the sum with any offset stays in int32
    if room < 0:
        return None
    every = np.arange(-128, 128, dtype=np.int64)
    base = every[:, None] * a + every[None, :] * b
    edge = wanted.astype(np.int64) << shift
    least = int((edge - base)[wanted > low].max(initial=-room))
    most = int((edge + (1 << shift) - 1 - base)[wanted < high].min(initial=room))
    return (least + most) >> 1 if -room <= least <= most <= room else None


def sum_offers(ctx: LowerContext, sign: int) -> list[Offer]:
    """The offer of an int8 `add` (``sign`` 1) or `sub` (-1)."""
    pair = binary(ctx)
    if pair is None:
        return []
    sig, kind = pair.sig, pair.sig.outputs[0]
    low, high = clamp_limits(ctx.node.op.clamp, kind)
    ratios = (sig.input(0).scale / kind.scale, sign * sig.input(1).scale / kind.scale)
    key = ("linear sum", sign)
    if key not in ctx.memo:
        ctx.memo[key] = solve(all_pairs(ctx.node.op, sig), ratios, low, high)
    form = ctx.memo[key]
    if form is None:
        return []
    instructions = kind.size * (11 if ctx.target.has_long_multiply else 16)
    return [
        Offer(
            kernel="add_s8",
            call=Call("td_add_s8", (ParamsArg(), *pair.arguments, Out(0)), out_row_bytes=(0,)),
            access=pair.access,
            headers=("td_add.h",),
            sources=("td_add_s8.c",),
            tables=pair.tables,
            params=Params(
                "td_add_params",
                (
                    *pair.walk.fields(),
                    ("a_multiplier", form.a_factor),
                    ("b_multiplier", form.b_factor),
                    ("offset", form.offset),
                    ("shift", form.shift),
                    ("act_min", low),
                    ("act_max", high),
                ),
            ),
            cost=Cost(instructions, int(instructions * 1.3)),
            note=f"one linear form, shift {form.shift}, proved on all pairs",
        )
    ]
