"""TFLite operators that repeat, reverse, mirror and rearrange elements in blocks, and resize images."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tinydeploy.frontends._geometry import border_indices, broadcast, reversal_indices, tile_steps
from tinydeploy.frontends.tflite_call import Call
from tinydeploy.ir import Array


def _tile(call: Call) -> None:
    x, counts = call.type(call.input(0)), call.integers(1, "the multiples")
    if len(counts) != x.rank or min(counts, default=1) < 1:
        raise call.refuse(f"repeats {x} {counts} times", "a count of at least 1 an axis")
    steps = tile_steps(x.shape, counts) or [(1,) * x.rank]
    name = call.input(0)
    for step in steps[:-1]:
        name = call.between("tile", (name,), x.quant, repeats=step)
    call.emit("tile", (name,), repeats=steps[-1])


def _broadcast_to(call: Call) -> None:
    x, wanted = call.type(call.input(0)), tuple(call.integers(1, "the shape"))
    if broadcast(x.shape, wanted) != wanted:
        raise call.damaged(f"broadcasts {x} to {list(wanted)}")
    call.emit("broadcast_to", (call.input(0),), shape=wanted)


def _reverse(call: Call) -> None:
    x = call.type(call.input(0))
    axes = {call.axis(axis, x.rank) for axis in call.integers(1, "the axes")}
    begin = tuple(d - 1 if axis in axes else 0 for axis, d in enumerate(x.shape))
    end = tuple(-1 if axis in axes else d for axis, d in enumerate(x.shape))
    stride = tuple(-1 if axis in axes else 1 for axis in range(x.rank))
    call.emit("strided_slice", (call.input(0),), begin=begin, end=end, stride=stride)


def _reverse_sequence(call: Call) -> None:
    x, lengths = call.type(call.input(0)), call.integers(1, "the lengths")
    time, batch = call.axis(int(call.option("seq_dim")), x.rank), call.axis(int(call.option("batch_dim")), x.rank)
    if time == batch or len(lengths) != x.shape[batch]:
        raise call.damaged(f"reverses {len(lengths)} sequences of {x}")
    perm = (batch, time, *(axis for axis in range(x.rank) if axis not in (batch, time)))
    turned = call.between("transpose", (call.input(0),), x.quant, perm=perm)
    indices = call.hold(reversal_indices(lengths, x.shape[time]))
    turned = call.between("gather", (turned, indices), x.quant, axis=1, batch_dims=1)
    call.emit("transpose", (turned,), perm=tuple(perm.index(axis) for axis in range(x.rank)))


def _mirror_pad(call: Call) -> None:
    x, numbers = call.type(call.input(0)), call.integers(1, "the padding")
    symmetric = int(call.option("mode")) == 1
    pairs = list(zip(numbers[::2], numbers[1::2], strict=False))
    if len(numbers) != 2 * x.rank or any(
        not 0 <= n <= d - (not symmetric) for pair, d in zip(pairs, x.shape, strict=True) for n in pair
    ):
        raise call.damaged(f"pads {x} by {numbers}")
    mode = "symmetric" if symmetric else "reflect"
    moves = [(axis, border_indices(x.shape[axis], *pairs[axis], mode)) for axis in range(x.rank) if any(pairs[axis])]
    _gather_axes(call, moves)


def _gather_axes(call: Call, moves: list[tuple[int, Array]]) -> None:
    """Constant indices of one axis after the other."""
    name, kind = call.input(0), call.type(call.input(0))
    if not moves:
        call.emit("reshape", (name,), shape=kind.shape)
        return
    for axis, indices in moves[:-1]:
        name = call.between("gather", (name, call.hold(indices)), kind.quant, axis=axis)
    axis, indices = moves[-1]
    call.emit("gather", (name, call.hold(indices)), axis=axis)


def _rearrange(call: Call, name: str, parts: tuple[int, ...], perm: tuple[int, ...]) -> str:
    """``name`` in parts, its axes in another order."""
    quant = call.type(name).quant
    name = call.between("reshape", (name,), quant, shape=parts)
    return call.between("transpose", (name,), quant, perm=perm)


def _space_to_depth(call: Call) -> None:
    x, (block,) = call.type(call.input(0)), call.positive("block_size")
    if x.rank != 4 or x.shape[1] % block or x.shape[2] % block:
        raise call.damaged(f"takes blocks of {block} from {x}")
    batch, height, width, depth = x.shape
    parts = (batch, height // block, block, width // block, block, depth)
    turned = _rearrange(call, call.input(0), parts, (0, 1, 3, 2, 4, 5))
    call.emit("reshape", (turned,), shape=(batch, height // block, width // block, block * block * depth))


def _depth_to_space(call: Call) -> None:
    x, (block,) = call.type(call.input(0)), call.positive("block_size")
    if x.rank != 4 or x.shape[3] % (block * block):
        raise call.damaged(f"makes blocks of {block} from {x}")
    batch, height, width, depth = x.shape
    parts = (batch, height, width, block, block, depth // (block * block))
    turned = _rearrange(call, call.input(0), parts, (0, 1, 3, 2, 4, 5))
    call.emit("reshape", (turned,), shape=(batch, height * block, width * block, parts[-1]))


def _block_shape(call: Call) -> tuple[list[int], list[tuple[int, int]]]:
    """Blocks and (before, after) of the axes behind the batch."""
    x, blocks, numbers = call.type(call.input(0)), call.integers(1, "the blocks"), call.integers(2, "the borders")
    count = len(blocks)
    if not 1 <= count <= 2 or x.rank < count + 1 or len(numbers) != 2 * count or min([*blocks, 1]) < 1:
        raise call.refuse(f"takes blocks {blocks} with borders {numbers} of {x}", "blocks of one or two axes")
    pairs = [(numbers[2 * i], numbers[2 * i + 1]) for i in range(count)]
    if min(numbers) < 0:
        raise call.damaged(f"has borders {numbers}")
    return blocks, pairs


def _space_to_batch(call: Call) -> None:
    x, (blocks, pairs) = call.type(call.input(0)), _block_shape(call)
    count, name = len(blocks), call.input(0)
    rest = x.shape[count + 1 :]
    grown = [d + sum(pair) for d, pair in zip(x.shape[1:], pairs, strict=False)]
    if any(d % block for d, block in zip(grown, blocks, strict=True)):
        raise call.damaged(f"takes blocks {blocks} of {grown}")
    if any(map(any, pairs)):
        name = call.between("pad", (name,), x.quant, padding=((0, 0), *pairs, *((0, 0),) * len(rest)))
    parts = [x.shape[0], *(n for d, b in zip(grown, blocks, strict=True) for n in (d // b, b)), *rest]
    inner = range(2 * count + 1, len(parts))
    perm = (*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count, 2), *inner)
    turned = _rearrange(call, name, tuple(parts), perm)
    sizes = [d // b for d, b in zip(grown, blocks, strict=True)]
    call.emit("reshape", (turned,), shape=(x.shape[0] * int(np.prod(blocks)), *sizes, *rest))


def _batch_to_space(call: Call) -> None:
    x, (blocks, pairs) = call.type(call.input(0)), _block_shape(call)
    count, product = len(blocks), int(np.prod(blocks))
    rest = x.shape[count + 1 :]
    if x.shape[0] % product:
        raise call.damaged(f"makes blocks {blocks} of {x}")
    parts = (*blocks, x.shape[0] // product, *x.shape[1:])
    order = [n for i in range(count) for n in (count + 1 + i, i)]
    turned = _rearrange(call, call.input(0), parts, (count, *order, *range(2 * count + 1, len(parts))))
    sizes = [d * b for d, b in zip(x.shape[1:], blocks, strict=False)]
    whole = (x.shape[0] // product, *sizes, *rest)
    if not any(map(any, pairs)):
        call.emit("reshape", (turned,), shape=whole)
        return
    if any(sum(pair) >= d for pair, d in zip(pairs, sizes, strict=True)):
        raise call.damaged(f"cuts {pairs} off {list(whole)}")
    name = call.between("reshape", (turned,), x.quant, shape=whole)
    begin = (0, *(pair[0] for pair in pairs), *(0,) * len(rest))
    end = (whole[0], *(d - pair[1] for d, pair in zip(sizes, pairs, strict=True)), *rest)
    call.emit("strided_slice", (name,), begin=begin, end=end, stride=(1,) * len(whole))


def _resize_options(call: Call) -> tuple[list[int], bool, bool]:
    """New (height, width), align_corners, half_pixel_centers."""
    size = call.integers(1, "the size")
    if call.type(call.input(0)).rank != 4 or len(size) != 2 or not 1 <= min(size) <= max(size) <= 1 << 16:
        raise call.damaged(f"resizes {call.type(call.input(0))} to {size}")
    return size, bool(call.option("align_corners")), bool(call.option("half_pixel_centers"))


def _resize_bilinear(call: Call) -> None:
    size, align, centers = _resize_options(call)
    attributes = {"align_corners": align, "half_pixel_centers": centers}
    call.emit("resize_bilinear", (call.input(0),), size=tuple(size), **attributes)


def _resize_nearest(call: Call) -> None:
    """Source: TFLite reference_ops::GetNearestNeighbor, which computes in float32."""
    x, (size, align, centers) = call.type(call.input(0)), _resize_options(call)
    moves = []
    for axis, count in zip((1, 2), size, strict=True):
        length = x.shape[axis]
        scale = np.float32(length) / np.float32(count)
        if align and count > 1:
            scale = np.float32(length - 1) / np.float32(count - 1)
        at = (np.arange(count, dtype=np.float32) + np.float32(0.5 if centers else 0)) * scale
        at = np.floor(at + np.float32(0.5)) if align else np.floor(at)
        moves.append((axis, np.clip(at, 0, length - 1).astype(np.int32)))
    _gather_axes(call, [(axis, indices) for axis, indices in moves if list(indices) != list(range(x.shape[axis]))])


OPERATORS: dict[str, Callable[[Call], None]] = {
    "TILE": _tile,
    "BROADCAST_TO": _broadcast_to,
    "REVERSE_V2": _reverse,
    "REVERSE_SEQUENCE": _reverse_sequence,
    "MIRROR_PAD": _mirror_pad,
    "SPACE_TO_DEPTH": _space_to_depth,
    "DEPTH_TO_SPACE": _depth_to_space,
    "SPACE_TO_BATCH_ND": _space_to_batch,
    "BATCH_TO_SPACE_ND": _batch_to_space,
    "RESIZE_BILINEAR": _resize_bilinear,
    "RESIZE_NEAREST_NEIGHBOR": _resize_nearest,
}
