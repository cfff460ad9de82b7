"""Matrix times vector on cores with the 32-bit SIMD, for every operator that is one."""

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
from tinydeploy.lower._linear import Linear, vector_access
from tinydeploy.lower.kernels import _dsp_pack, _dsp_requant
from tinydeploy.lower.kernels._dsp_requant import Affine, Exact
from tinydeploy.lower.requantise import Ints

AFFINE_SHIFT = 0  # in td_dense_affine_dsp


def dense_offers(ctx: LowerContext, lin: Linear, vectors: int) -> list[Offer]:
    """The kernel for ``vectors`` vectors one after the other, where its requantisation is proved."""
    if not _dsp_pack.fits(lin.weights):
        return []
    form = _dsp_requant.solve(lin.scaling, _dsp_pack.lane_bits(len(lin.weights)), AFFINE_SHIFT)
    if form is None:
        return []
    # without scratch: a sixth slower, and the input is read to the end
    direct = (
        [_offer(ctx, lin, form, vectors, True)] if isinstance(form, Affine) and lin.weights.shape[1] % 8 == 0 else []
    )
    return [_offer(ctx, lin, form, vectors, False), *direct]


def dense_stream(weights: Ints, form: Affine | Exact) -> _dsp_pack.Words32:
    """The stream of td_fully_connected_dsp.h: pairs of outputs as in the convolution, two of them interleaved."""
    order = np.arange(-(-weights.shape[1] // 8) * 8)
    order[weights.shape[1] :] = -1
    words = _even(_dsp_pack.pair_words(weights, order))
    before, after = (_even(part) for part in _dsp_pack.requant_words(form))
    fours = words.reshape(len(words) // 2, 2, -1, 4).swapaxes(1, 2).reshape(len(words) // 2, -1)
    parts = [before.reshape(len(fours), -1), fours, after.reshape(len(fours), -1)]
    return np.concatenate(parts, axis=1).ravel()


def _even(pairs: _dsp_pack.Words32) -> _dsp_pack.Words32:
    """A pair of zeros after an odd number of pairs."""
    return np.pad(pairs, ((0, len(pairs) % 2), (0, 0)))


def _offer(ctx: LowerContext, lin: Linear, form: Affine | Exact, vectors: int, direct: bool) -> Offer:
    outputs, inputs = lin.weights.shape
    affine = isinstance(form, Affine)
    suffix = "_direct" if direct else "" if affine else "_exact"
    return Offer(
        kernel=f"fully_connected_w8a8_dsp{'_direct' if direct else ''}",
        call=Call(
            f"td_fully_connected_w8a8_dsp{suffix}",
            (ParamsArg(), In(0), Tab("stream"), Out(0), *(() if direct else (Scratch(),))),
            calls=vectors,
            in_row_bytes=((0, inputs),),
            out_row_bytes=(outputs,),
        ),
        access=vector_access(ctx, outputs, inputs, reads_first=not direct),
        headers=("td_fully_connected_dsp.h",),
        sources=("td_dense_direct_dsp.c" if direct else "td_fully_connected_w8a8_dsp.c",),
        tables=(Table("stream", "uint32_t", dense_stream(lin.weights, form)),),
        params=Params(
            "td_fully_connected_dsp_params",
            (("inputs", inputs), ("outputs", outputs), *lin.fields(shift=False)),
        ),
        scratch_bytes=0 if direct else -(-inputs // 8) * 16,
        cost=_cost(vectors, -(-inputs // 8), -(-outputs // 4), affine, direct),
        note=form.note,
    )


def _cost(vectors: int, eights: int, fours: int, affine: bool, direct: bool) -> Cost:
    """Per vector: widening and calls; per four outputs: steps of eight inputs, requantisation."""
    widen, step = (0, 32) if direct else (9, 27)
    instructions = vectors * (widen * eights + 140 + fours * (step * eights + (34 if affine else 46)))
    cycles = vectors * (2 * widen * eights + 220 + fours * ((step + 13) * eights + (60 if affine else 72)))
    return Cost(instructions, cycles)
