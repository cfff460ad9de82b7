"""Matrix times vector on cores with the vector extension: eight outputs, sixteen inputs at a time."""

from __future__ import annotations

import numpy as np

from tinydeploy.lower._contract import (
    Call,
    Cost,
    In,
    LowerContext,
    Offer,
    Out,
    Params,
    ParamsArg,
    Scratch,
    Tab,
    Table,
)
from tinydeploy.lower._linear import Linear, linear, vector_access
from tinydeploy.lower.kernels import _dsp_requant, _mve_pack
from tinydeploy.lower.kernels._dsp_pack import Words32, as_words
from tinydeploy.lower.kernels._dsp_requant import Affine
from tinydeploy.ops.fully_connected import FullyConnected

OPERATOR = "fully_connected"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int8 with constant weights, where an affine map is proved for every output."""
    if ctx.target.cpu_class != "mve" or not isinstance(ctx.node.op, FullyConnected):
        return []
    lin = linear(ctx, (0, 1), rounding="once")
    if lin is None:
        return []
    form = _dsp_requant.solve(lin.scaling, np.zeros(len(lin.weights), np.int64), 0)
    return [_offer(ctx, lin, form)] if isinstance(form, Affine) else []


def dense_stream(lin: Linear, form: Affine) -> Words32:
    """The stream of td_fully_connected_mve.h."""
    weights = _mve_pack.filled(_mve_pack.filled(lin.weights, _mve_pack.VECTOR, 1), 8, 0)
    eights = len(weights) // 8
    words = _mve_pack.bytes_to_words(
        weights.reshape(eights, 8, -1, _mve_pack.VECTOR).swapaxes(1, 2).reshape(eights, -1)
    )
    scales = np.stack([form.c & 0xFFFFFFFF, form.c >> 32, form.m], axis=1)
    return as_words(np.concatenate([words, _mve_pack.filled(scales, 8, 0).reshape(eights, -1)], axis=1)).ravel()


def _offer(ctx: LowerContext, lin: Linear, form: Affine) -> Offer:
    outputs, inputs = lin.weights.shape
    vectors = ctx.signature.outputs[0].size // outputs
    copied = inputs % _mve_pack.VECTOR != 0
    return Offer(
        kernel="fully_connected_w8a8_mve",
        call=Call(
            "td_fully_connected_w8a8_mve",
            (ParamsArg(), In(0), Tab("stream"), Out(0), Scratch() if copied else 0),
            calls=vectors,
            in_row_bytes=((0, inputs),),
            out_row_bytes=(outputs,),
        ),
        access=vector_access(ctx, outputs, inputs, reads_first=copied),
        headers=("td_fully_connected_mve.h",),
        sources=("td_fully_connected_w8a8_mve.c",),
        tables=(Table("stream", "uint32_t", dense_stream(lin, form)),),
        params=Params(
            "td_fully_connected_mve_params",
            (("inputs", inputs), ("outputs", outputs), *lin.fields(shift=False, zero_point=False)),
        ),
        scratch_bytes=-(-inputs // _mve_pack.VECTOR) * _mve_pack.VECTOR if copied else 0,
        cost=_cost(vectors, inputs, outputs),
        note=form.note,
    )


def _cost(vectors: int, inputs: int, outputs: int) -> Cost:
    """Per vector: calls and a copy; per eight outputs: steps of sixteen inputs and requantisation."""
    steps, eights = -(-inputs // _mve_pack.VECTOR), -(-outputs // 8)
    instructions = vectors * (100 + (4 * inputs if inputs % _mve_pack.VECTOR else 0) + eights * (17 * steps + 38))
    return Cost(instructions, 2 * instructions)
