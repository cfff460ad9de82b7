"""Operators that repeat, rearrange or mask elements."""

from __future__ import annotations

import math

import numpy as np

from tinydeploy.frontends._geometry import MAX_INDICES, broadcast, reversal_indices, tile_steps
from tinydeploy.frontends.onnx_call import Call, Results, normal_axis, refuse, translates
from tinydeploy.frontends.onnx_ops.slicing import cut


@translates("Expand")
def expand(call: Call) -> Results:
    """Broadcast to the common shape with a constant one. Source: ONNX Expand-13."""
    wanted = broadcast(call.shape_of(0), call.integers(1, "shape") or ())
    x = call.value(0)
    return (x if wanted == call.shape_of(0) else call.emit("broadcast_to", x, shape=wanted),)


@translates("Tile")
def tile(call: Call) -> Results:
    """Repeated along its axes. Source: ONNX Tile-13."""
    shape, repeats = call.shape_of(0), call.integers(1, "repeats") or ()
    if len(repeats) != len(shape) or min(repeats, default=1) < 1:
        raise refuse(f"repeats are {list(repeats)} of shape {list(shape)}", "a count of at least 1 an axis")
    x = call.value(0)
    for step in tile_steps(shape, repeats):
        x = call.emit("tile", x, repeats=step)
    return (x,)


@translates("DepthToSpace")
def depth_to_space(call: Call) -> Results:
    """Channels into blocks of the plane, modes DCR and CRD. Source: ONNX DepthToSpace-13."""
    batch, channels, height, width = _image(call)
    block, mode = call.attribute("blocksize"), call.attribute("mode", "DCR")
    if mode not in ("DCR", "CRD") or block < 1 or channels % (block * block):
        raise refuse(f"mode {mode}, blocks of {block} from {channels} channels", "DCR or CRD; whole blocks")
    depth = channels // (block * block)
    if mode == "DCR":
        parts = call.reshape(call.value(0), (batch, block, block, depth, height, width))
        turned = call.transpose(parts, (0, 3, 4, 1, 5, 2))
    else:
        parts = call.reshape(call.value(0), (batch, depth, block, block, height, width))
        turned = call.transpose(parts, (0, 1, 4, 2, 5, 3))
    return (call.reshape(turned, (batch, depth, height * block, width * block)),)


@translates("SpaceToDepth")
def space_to_depth(call: Call) -> Results:
    """Blocks of the plane into channels, modes DCR and CRD. Source: ONNX SpaceToDepth-13."""
    batch, channels, height, width = _image(call)
    block, mode = call.attribute("blocksize"), call.attribute("mode", "DCR")
    if mode not in ("DCR", "CRD") or block < 1 or height % block or width % block:
        raise refuse(f"mode {mode}, blocks of {block} from {height}x{width}", "DCR or CRD; whole blocks")
    parts = call.reshape(call.value(0), (batch, channels, height // block, block, width // block, block))
    turned = call.transpose(parts, (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4))
    return (call.reshape(turned, (batch, channels * block * block, height // block, width // block)),)


def _image(call: Call) -> tuple[int, ...]:
    shape = call.shape_of(0)
    if len(shape) != 4:
        raise refuse(f"its input has shape {list(shape)}", "NCHW images")
    return shape


@translates("ReverseSequence")
def reverse_sequence(call: Call) -> Results:
    """The first elements of each sequence in reverse order; lengths are constants. Source: ONNX ReverseSequence-10."""
    shape, lengths = call.shape_of(0), call.integers(1, "sequence_lens") or ()
    time = normal_axis(call.attribute("time_axis", 0), len(shape))
    batch = normal_axis(call.attribute("batch_axis", 1), len(shape))
    if time == batch or len(lengths) != shape[batch]:
        raise refuse(f"{len(lengths)} lengths, axes {batch} and {time}", "a length a sequence, two axes")
    perm = (batch, time, *(axis for axis in range(len(shape)) if axis not in (batch, time)))
    turned = call.transpose(call.value(0), perm)
    indices = call.hold(reversal_indices(lengths, shape[time]))
    turned = call.emit("gather", turned, indices, axis=1, batch_dims=1)
    return (call.transpose(turned, tuple(perm.index(axis) for axis in range(len(shape)))),)


@translates("Trilu")
def trilu(call: Call) -> Results:
    """The upper or lower triangle, zeros elsewhere. Source: ONNX Trilu-14."""
    shape = call.shape_of(0)
    if len(shape) < 2 or shape[-2] * shape[-1] > MAX_INDICES:
        raise refuse(f"its input has shape {list(shape)}", f"matrices of at most {MAX_INDICES} elements")
    (diagonal,) = call.integers(1, "k") or (0,)
    diagonal = max(-shape[-2], min(diagonal, shape[-1]))
    places = np.arange(shape[-1])[None] - np.arange(shape[-2])[:, None]
    kept = places >= diagonal if call.attribute("upper", 1) else places <= diagonal
    x = call.value(0)
    zero = call.hold(np.zeros((), call.type(x).elem.dtype))
    return (call.emit("select", call.hold(kept), x, zero),)


@translates("Col2Im")
def col2im(call: Call) -> Results:
    """Sums of overlapping blocks: additions at constant places, then the border is cut off. Source: ONNX Col2Im-18."""
    shape, image, block = call.shape_of(0), call.integers(1, "image_shape"), call.integers(2, "block_shape")
    if len(shape) != 3 or not image or not block or len(image) != len(block) or min(*image, *block) < 1:
        raise refuse(f"its input has shape {list(shape)}, images {image}, blocks {block}", "[N, C * block, L]")
    rank = len(image)
    strides, dilations = call.attribute("strides", (1,) * rank), call.attribute("dilations", (1,) * rank)
    pads = call.attribute("pads", (0,) * (2 * rank))
    grown = tuple(d + pads[i] + pads[rank + i] for i, d in enumerate(image))
    counts = [
        (d - (k - 1) * step - 1) // stride + 1
        for d, k, step, stride in zip(grown, block, dilations, strides, strict=True)
    ]
    channels = shape[1] // math.prod(block)
    if min(pads) < 0 or shape[1] % math.prod(block) or math.prod(counts) != shape[2] or math.prod(grown) > MAX_INDICES:
        raise refuse(f"{shape[2]} blocks {list(block)} in images {list(grown)}", "whole channels, a column a block")
    places = np.zeros((1,) * (2 * rank), np.int64)
    for i in range(rank):
        axis = np.arange(block[i])[:, None] * dilations[i] + np.arange(counts[i]) * strides[i]
        step = math.prod(grown[i + 1 :])
        sizes = {i: block[i], rank + i: counts[i]}
        places = places + step * axis.reshape([sizes.get(j, 1) for j in range(2 * rank)])
    rows = shape[0] * channels
    columns = call.reshape(call.value(0), (rows, math.prod(block) * shape[2]))
    if rows * math.prod(grown) > 1 << 26 or rows * places.size > 1 << 22:
        raise refuse(f"makes {rows} images {list(grown)}", "fewer")
    zeros = call.hold(np.zeros((rows, math.prod(grown)), np.float32))
    indices = call.hold(np.broadcast_to(places.reshape(1, -1), (rows, places.size)).astype(np.int32))
    y = call.emit("scatter_elements", zeros, indices, columns, axis=1, reduction="add")
    y = call.reshape(y, (shape[0], channels, *grown))
    ends = [range(pads[i], pads[i] + image[i]) for i in range(rank)]
    return (cut(call, y, [range(shape[0]), range(channels), *ends]),)
