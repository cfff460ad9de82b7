"""Matrix times vector without a long multiply, for speed: three outputs by two multiplications, 2.7 bytes a weight."""

from __future__ import annotations

import numpy as np

from tinydeploy.ir import Array
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
from tinydeploy.lower.requantise import Ints, affine_terms
from tinydeploy.ops.fully_connected import FullyConnected

OPERATOR = "fully_connected"
_FIELD = 2**20  # bound of the sums of a stretch of taps
_SUM = 2**21  # and of all of them
_PRODUCT = 2**51
_PARTS = np.dtype([(name, "<i4") for name in ("m0", "m1", "m2", "c0", "c1", "c2")])


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int8 with constant weights where speed is asked for and multiplies give 32 bits."""
    op = ctx.node.op
    if not isinstance(op, FullyConnected) or ctx.target.has_long_multiply or ctx.target.optimize != "speed":
        return []
    lin = linear(ctx, (0, 1), rounding="once")
    if lin is None or not lin.requant.affine or not lin.scaling.sums_below(_SUM):
        return []
    parts = _parts(lin)
    return [] if parts is None else [_offer(ctx, lin, parts)]


def _parts(lin: Linear) -> Array | None:
    """Records of td_parts, None where products leave their 51 bits."""
    m, c = affine_terms(lin.requant.records)
    if lin.scaling.reach(m, c) >= _PRODUCT:
        return None
    parts = np.empty(len(m), _PARTS)
    for name, value in (("m", m), ("c", c)):
        parts[f"{name}0"], parts[f"{name}1"], parts[f"{name}2"] = value & 1023, (value >> 10) & 1023, value >> 20
    return parts


def taps_together(weights: Ints) -> int:
    """The most taps, in equal stretches but for the last, whose sums stay in their field for any int8 input."""
    taps = int(weights.shape[1])
    low, high = np.minimum(weights * 127, weights * -128), np.maximum(weights * 127, weights * -128)
    for stretches in range(1, taps + 1):
        together = -(-taps // stretches)
        edges = np.arange(0, taps, together)
        sums = (np.add.reduceat(high, edges, axis=1), -np.add.reduceat(low, edges, axis=1))
        if max(int(s.max(initial=0)) for s in sums) < _FIELD:
            return together
    return 1


def sextet_words(weights: Ints, together: int) -> Array:
    """[outputs, taps] to words: by six outputs, by stretch {four starts, then A, B, A', B' of every tap}."""
    outputs, taps = weights.shape
    padded = np.zeros((-(-outputs // 6) * 6, taps), np.int64)
    padded[:outputs] = weights
    trios = padded.reshape(-1, 2, 3, taps)  # [blocks, halves, outputs of a half, taps]
    words = np.stack([trios[:, :, 0] + (trios[:, :, 1] << 11), trios[:, :, 1] + (trios[:, :, 2] << 11)], axis=2)
    words = words.reshape(len(trios), 4, taps).swapaxes(1, 2)  # [blocks, taps, 4]
    pieces = []
    for block in words:
        for first in range(0, taps, together):
            stretch = block[first : first + together]
            pieces += [-128 * stretch.sum(axis=0, keepdims=True), stretch]
    return np.asarray((np.concatenate(pieces) & 0xFFFFFFFF).astype(np.uint32).ravel())


def _offer(ctx: LowerContext, lin: Linear, parts: Array) -> Offer:
    outputs, inputs = lin.weights.shape
    vectors = ctx.signature.outputs[0].size // outputs
    together = taps_together(lin.weights)
    blocks = -(-outputs // 6)
    stretches = -(-inputs // together)
    instructions = vectors * (blocks * (10.4 * inputs + 85 * stretches + 30) + 31 * outputs + 9 * inputs)
    return Offer(
        kernel="fully_connected_sextets_w8a8",
        call=Call(
            "td_fully_connected_sextets_w8a8",
            (ParamsArg(), In(0), Tab("weights"), Tab("requant"), Out(0), Scratch()),
            calls=vectors,
            in_row_bytes=((0, inputs),),
            out_row_bytes=(outputs,),
        ),
        access=vector_access(ctx, outputs, inputs),
        headers=("td_fully_connected_sextets.h",),
        sources=("td_fully_connected_sextets_w8a8.c", "td_sextets.c"),
        tables=(
            Table("weights", "uint32_t", sextet_words(lin.weights, together)),
            Table("requant", "td_parts", parts),
        ),
        params=Params(
            "td_fully_connected_sextets_params",
            (
                ("inputs", inputs),
                ("outputs", outputs),
                ("together", together),
                ("shift", 12 + lin.requant.shift),
                *lin.fields(shift=False, zero_point=False),
            ),
        ),
        scratch_bytes=inputs,
        cost=Cost(int(instructions), int(1.5 * instructions)),
        note=lin.requant.note,
    )
