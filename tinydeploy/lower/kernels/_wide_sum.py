"""Sum or difference of two dense int8 operands on cores that take several elements at once."""

from __future__ import annotations

from typing import Literal

from tinydeploy.lower._broadcast import all_pairs, binary
from tinydeploy.lower._contract import Call, Cost, LowerContext, Offer, Out, Params, ParamsArg
from tinydeploy.lower._sum import LinearSum, solve_at
from tinydeploy.ops._op import clamp_limits

SHIFTS = {22: "", 20: "_wide"}  # of td_add_s8_dsp, and the suffix of its name; the vector extension takes any
INSTRUCTIONS = {"dsp": 6.25, "mve": 2.5}  # an element


def wide_sum_offers(ctx: LowerContext, sign: int, kind: Literal["dsp", "mve"]) -> list[Offer]:
    """The offer of an int8 `add` (``sign`` 1) or `sub` (-1) of two operands of the result's shape."""
    pair = binary(ctx)
    if pair is None or len(pair.walk.axes) != 1 or pair.walk.axes[0][1:] != (1, 1):
        return []
    sig, result = pair.sig, pair.sig.outputs[0]
    low, high = clamp_limits(ctx.node.op.clamp, result)
    ratios = (sig.input(0).scale / result.scale, sign * sig.input(1).scale / result.scale)
    wanted = all_pairs(ctx.node.op, sig)
    forms = (solve_at(wanted, ratios, low, high, shift) for shift in SHIFTS)
    form = next((form for form in forms if form is not None), None)
    if form is None:
        return []
    suffix = SHIFTS[form.shift] if kind == "dsp" else ""
    instructions = int(result.size * INSTRUCTIONS[kind]) + 40
    return [
        Offer(
            kernel=f"add_s8_{kind}",
            call=Call(f"td_add_s8_{kind}{suffix}", (ParamsArg(), *pair.arguments, Out(0)), out_row_bytes=(0,)),
            access=pair.access,
            headers=(f"td_add_{kind}.h",),
            sources=(f"td_add_s8_{kind}.c",),
            tables=pair.tables,
            params=Params(f"td_add_{kind}_params", _fields(form, result.size, low, high, kind)),
            cost=Cost(instructions, int(instructions * 1.13)),
            note=f"one linear form, shift {form.shift}, proved on all pairs",
        )
    ]


def _fields(form: LinearSum, size: int, low: int, high: int, kind: str) -> tuple[tuple[str, int], ...]:
    return (
        ("a_multiplier", form.a_factor),
        ("b_multiplier", form.b_factor),
        ("offset", form.offset),
        ("size", size),
        *((("shift", form.shift),) if kind == "mve" else ()),
        ("act_min", low),
        ("act_max", high),
    )
