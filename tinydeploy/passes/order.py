"""The one list of passes. Each stage is repeated until nothing changes; a stage may name a pass of an earlier one."""

from __future__ import annotations

_FOLD = (
    "remove_identity",
    "fold_constants",
    "merge_duplicates",
    "channels_last",
    "sink_reshape",
    "permute_dense",
    "fold_pad",
    "fold_batch_norm",
    "fold_affine",
    "fuse_clamp",
    "last_step",
)

Stages = tuple[tuple[str, ...], ...]
SHAPING: Stages = (
    _FOLD,
    ("fold_qdq", *_FOLD),  # transposes are out of the way of dequantize and quantize, clamps are in their operators
    ("expand_batch_norm", *_FOLD),  # only now is it certain that nothing takes them up
    ("widen_weights",),
)
FINAL: Stages = (("drop_channels",),)  # quantising shows more of them, so that it runs again after that
STAGES: Stages = (*SHAPING, *FINAL)
