"""Sum or difference of two dense int8 operands on cores that take several elements at once."""

from __future__ import annotations

from typing import Literal

from tinydeploy.lower._broadcast import all_pairs, binary
from tinydeploy.lower._contract import Call, Cost, LowerContext, Offer, Out, Params, ParamsArg
from tinydeploy.lower._sum import LinearSum, solve_at
from tinydeploy.ops._op import clamp_limits

SHIFT = 20  # in td_add_s8_dsp and td_add_s8_mve
INSTRUCTIONS = {"dsp": 6.25, "mve": 2.5}  # an element


def wide_sum_offers(ctx: LowerContext, sign: int, kind: Literal["dsp", "mve"]) -> list[Offer]:
    """The offer of an int8 `add` (``sign`` 1) or `sub` (-1) of two operands of the result's shape."""
    pair = binary(ctx)
    if pair is None or len(pair.walk.axes) != 1 or pair.walk.axes[0][1:] != (1, 1):
        return []
    sig, result = pair.sig, pair.sig.outputs[0]
    low, high = clamp_limits(ctx.node.op.clamp, result)
    ratios = (sig.input(0).scale / result.scale, sign * sig.input(1).scale / result.scale)
    form = solve_at(all_pairs(ctx.node.op, sig), ratios, low, high, SHIFT)
    if form is None:
        return []
    instructions = int(result.size * INSTRUCTIONS[kind]) + 40
    return [
        Offer(
            kernel=f"add_s8_{kind}",
            call=Call(f"td_add_s8_{kind}", (ParamsArg(), *pair.arguments, Out(0)), out_row_bytes=(0,)),
            access=pair.access,
            headers=(f"td_add_{kind}.h",),
            sources=(f"td_add_s8_{kind}.c",),
            tables=pair.tables,
            params=Params(f"td_add_{kind}_params", _fields(form, result.size, low, high)),
            cost=Cost(instructions, int(instructions * 1.13)),
            note=f"one linear form, shift {SHIFT}, proved on all pairs",
        )
    ]


def _fields(form: LinearSum, size: int, low: int, high: int) -> tuple[tuple[str, int], ...]:
    return (
        ("a_multiplier", form.a_factor),
        ("b_multiplier", form.b_factor),
        ("offset", form.offset),
        ("size", size),
        ("act_min", low),
        ("act_max", high),
    )
