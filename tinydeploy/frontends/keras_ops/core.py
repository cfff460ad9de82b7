"""Layers that do nothing when a trained model runs, look things up, or are made of one formula."""

from __future__ import annotations

import numpy as np

from tinydeploy.frontends.keras_call import Call, layer
from tinydeploy.frontends.keras_ops._einsum import einsum
from tinydeploy.frontends.keras_ops.activations import activate
from tinydeploy.ir import Elem


@layer(
    "Dropout",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "SpatialDropout3D",
    "GaussianNoise",
    "GaussianDropout",
    "AlphaDropout",
    "ActivityRegularization",
    "Identity",
    mask="passes",
)
def _nothing(call: Call) -> str:
    if len(call.operands) != 1:
        raise call.damaged(f"has {len(call.operands)} inputs, not 1")
    return call.tensor(call.operands[0])


@layer("Masking")
def _masking(call: Call) -> str:
    """Steps whose features all have the mask's value become 0, and later layers may skip them."""
    x = call.input()
    rank = call.type(x).rank
    value = call.constant("mask_value", np.asarray(call.number("mask_value", 0.0)))
    other = call.emit("not_equal", (x, value), stem="differs")
    kept = call.emit("reduce_any", (other,), stem="kept", axes=(rank - 1,), keep_dims=True)
    y = call.emit("mul", (x, call.emit("cast", (kept,), stem="factor", elem=Elem.F32)))
    call.context.masked.add(y)
    return y


@layer("Embedding", "ReversibleEmbedding")
def _embedding(call: Call) -> str:
    x = call.tensor(call.operands[0]) if len(call.operands) == 1 else call.input()
    if call.type(x).elem not in (Elem.S32, Elem.S64):
        x = call.emit("cast", (x,), stem="indices", elem=Elem.S32)
    table = call.weights(*[2] * (1 if call.config.get("tie_weights", True) else 2))[0]
    y = call.emit("gather", (call.constant("embeddings", table), x), axis=0, batch_dims=0)
    if call.config.get("mask_zero"):
        call.context.masked.add(y)
    return y


@layer("EinsumDense")
def _einsum_dense(call: Call) -> str:
    x = call.input()
    equation = str(call.config.get("equation"))
    biased = call.config.get("bias_axes") is not None
    arrays = call.context.weights.of(call.layer.path)
    if len(arrays) != 1 + biased:
        raise call.damaged(f"has {len(arrays)} weights, {1 + biased} are needed")
    y = einsum(call, equation, [x, call.constant("kernel", arrays[0])], "" if not biased else "product")
    if biased:
        y = call.emit("add", (y, call.constant("bias", arrays[1])))
    return activate(call, y, call.config.get("activation"))
