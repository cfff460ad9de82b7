"""Sum and difference of int16, and of int8 whose scales no single linear form takes: TFLite's arithmetic as it is."""

from __future__ import annotations

from tinydeploy.ir import Elem
from tinydeploy.lower._contract import Call, Cost, LowerContext, Offer, Out, Params, ParamsArg
from tinydeploy.lower._int16 import Operands, operands, short
from tinydeploy.lower._sum import sum_offers
from tinydeploy.ops._binary import pot_shifts, sum_multipliers
from tinydeploy.ops._op import clamp_limits
from tinydeploy.ops.add import Add
from tinydeploy.ops.sub import Sub

OPERATORS = ("add", "sub")


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int16; for int8 where there is no other."""
    op, sig = ctx.node.op, ctx.signature
    kinds = {short(kind) for kind in (*sig.inputs, *sig.outputs)}
    if not isinstance(op, (Add, Sub)) or kinds not in ({"s16"}, {"s8"}):
        return []
    sign = 1 if isinstance(op, Add) else -1
    if kinds == {"s8"} and sum_offers(ctx, sign):
        return []
    found = operands(ctx)
    if op.pot_scale_int16 and sig.outputs[0].elem is Elem.S16:
        a_shift, b_shift = pot_shifts(sig)
        fields = (("a_shift", a_shift), ("b_shift", b_shift), ("b_sign", sign))
        return [_offer(ctx, found, "sum_pot_s16", "td_sum_pot_params", fields)]
    return [_offer(ctx, found, f"sum_exact_{kinds.pop()}", "td_sum_exact_params", _fields(ctx, sign))]


def _fields(ctx: LowerContext, sign: int) -> tuple[tuple[str, int], ...]:
    sig = ctx.signature
    left, (a, a_shift), (b, b_shift), (m, shift) = sum_multipliers(sig)
    return (
        ("a_zero_point", sig.input(0).zero_point),
        ("b_zero_point", sig.input(1).zero_point),
        ("left_shift", left),
        ("a_multiplier", a),
        ("a_shift", a_shift),
        ("b_multiplier", b),
        ("b_shift", b_shift),
        ("b_sign", sign),
        ("multiplier", m),
        ("shift", shift),
        ("zero_point", sig.outputs[0].zero_point),
    )


def _offer(ctx: LowerContext, found: Operands, kernel: str, params: str, fields: tuple[tuple[str, int], ...]) -> Offer:
    kind = ctx.signature.outputs[0]
    low, high = clamp_limits(ctx.node.op.clamp, kind)
    instructions = kind.size * (60 if ctx.target.has_long_multiply else 180)
    return Offer(
        kernel=kernel,
        call=Call(f"td_{kernel}", (ParamsArg(), *found.arguments, Out(0))),
        access=found.access,
        headers=("td_sum_exact.h",),
        sources=("td_sum_exact.c",),
        tables=found.tables,
        params=Params(params, (*found.walk.fields(), *fields, ("act_min", low), ("act_max", high))),
        cost=Cost(instructions, int(instructions * 1.3)),
    )
