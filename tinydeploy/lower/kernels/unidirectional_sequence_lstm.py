"""TFLite's LSTM of int8 with an int16 cell state."""

from __future__ import annotations

import dataclasses

import numpy as np

from tinydeploy.lower._contract import Call, Cost, In, LowerContext, Offer, Out, Params, ParamsArg, Scratch, Tab, Table
from tinydeploy.lower._linear import MAX_TERMS
from tinydeploy.lower._operands import operands
from tinydeploy.lower._recurrent import recurrent_access
from tinydeploy.numerics.requantise import wrap_int32
from tinydeploy.ops.unidirectional_sequence_lstm import UnidirectionalSequenceLstm

OPERATOR = "unidirectional_sequence_lstm"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer where weights and bias are constants."""
    op, sig = ctx.node.op, ctx.signature
    w, r, b = (ctx.constant(index) for index in (1, 2, 3))
    if not isinstance(op, UnidirectionalSequenceLstm) or w is None or r is None or b is None:
        return []
    (steps, batch, inputs), hidden = sig.input(0).shape, r.shape[1]
    if max(inputs, hidden) > MAX_TERMS:
        return []
    m = op.multipliers(sig)
    wide_w, wide_r = w.astype(np.int64), r.astype(np.int64)
    of_x = wrap_int32(b.astype(np.int64) - sig.input(0).zero_point * wide_w.sum(axis=1))
    of_h = wrap_int32(-sig.input(4).zero_point * wide_r.sum(axis=1))
    fields: list[tuple[str, int]] = [("steps", steps), ("batch", batch), ("inputs", inputs), ("hidden", hidden)]
    for name, pairs in (("x", m.of_x), ("h", m.of_h)):
        fields += [(f"{name}_multiplier[{i}]", pair[0]) for i, pair in enumerate(pairs)]
        fields += [(f"{name}_shift[{i}]", pair[1]) for i, pair in enumerate(pairs)]
    fields += [("multiplier", m.hidden[0]), ("shift", m.hidden[1]), ("zero_point", op.hidden_zero_point)]
    fields += [("cell_bits", m.cell_bits), ("clip", m.clip), ("every_step", int(op.every_step))]
    (h0, c0), starts = operands(ctx, ("h0", "c0"), first=4)
    size = batch * hidden
    begin = Call("td_state_begin_s8", (h0, size, Out(1)))
    cell = Call("td_state_begin_s16", (c0, size, Out(2)))
    tabs = tuple(Tab(name) for name in ("w", "r", "of_x", "of_h"))
    run = Call("td_sequence_lstm_s8", (ParamsArg(), In(0), *tabs, Out(0), Out(1), Out(2), Scratch()))
    macs = op.macs(sig)
    return [
        Offer(
            kernel="sequence_lstm_s8",
            call=dataclasses.replace(begin, then=(cell, run)),
            access=recurrent_access(ctx, states=2),
            headers=("td_sequence_lstm.h",),
            sources=("td_sequence_lstm_s8.c", "td_fixed16.c"),
            tables=(
                Table("w", "int8_t", w.astype(np.int8).ravel()),
                Table("r", "int8_t", r.astype(np.int8).ravel()),
                Table("of_x", "int32_t", of_x.astype(np.int32)),
                Table("of_h", "int32_t", of_h.astype(np.int32)),
                *starts,
            ),
            params=Params("td_sequence_lstm_params", tuple(fields)),
            scratch_bytes=8 * hidden,
            cost=Cost(4 * macs + 1200 * steps * size, 5 * macs + 1700 * steps * size),
        )
    ]
