"""TFLite operators that move elements without computing."""

from __future__ import annotations

import math
from collections.abc import Callable

from tinydeploy.frontends.tflite_call import Call
from tinydeploy.ir.types import Type, dequantise


def _reshape_to(call: Call, shape: tuple[int, ...]) -> None:
    call.emit("reshape", (call.input(0),), shape=shape)


def _reshape(call: Call) -> None:
    x = call.type(call.input(0))
    if call.data(1) is not None:
        target = call.integers(1, "the shape")
    elif call.optional(1) is not None:
        raise call.refuse("the shape is computed at run time", "it has to be a constant")
    else:
        option = call.option("new_shape")
        target = list(call.output_type().shape) if option is None else [int(d) for d in option[:64]]
    if target.count(-1) > 1 or any(d < -1 for d in target):
        raise call.damaged(f"has the shape {target}")
    known = math.prod(d for d in target if d != -1)
    if -1 in target and known:
        target[target.index(-1)] = x.size // known
    if math.prod(target) != x.size:
        raise call.damaged(f"makes {x} into {target}")
    _reshape_to(call, tuple(target))


def _squeeze(call: Call) -> None:
    x = call.type(call.input(0))
    option = call.option("squeeze_dims")
    axes = (
        {call.axis(int(a), x.rank) for a in option[:64]} if option is not None and len(option) else set(range(x.rank))
    )
    if option is not None and len(option) and any(x.shape[a] != 1 for a in axes):
        raise call.damaged(f"squeezes axes {sorted(axes)} of {x}")
    _reshape_to(call, tuple(d for a, d in enumerate(x.shape) if a not in axes or d != 1))


def _expand_dims(call: Call) -> None:
    x = call.type(call.input(0))
    axes = call.integers(1, "the axis")
    if len(axes) != 1:
        raise call.damaged(f"has {len(axes)} axes")
    axis = call.axis(axes[0], x.rank + 1)
    _reshape_to(call, (*x.shape[:axis], 1, *x.shape[axis:]))


def _transpose(call: Call) -> None:
    x, perm = call.type(call.input(0)), call.integers(1, "the permutation")
    if sorted(perm) != list(range(x.rank)):
        raise call.damaged(f"permutes {x} by {perm}")
    call.emit("transpose", (call.input(0),), perm=tuple(perm))


def _pad(call: Call) -> None:
    x, numbers = call.type(call.input(0)), call.integers(1, "the padding")
    if len(numbers) != 2 * x.rank or any(n < 0 for n in numbers):
        raise call.damaged(f"pads {x} by {numbers}")
    value = 0.0
    if call.optional(2) is not None:
        data = call.data(2)
        if data is None or data.size != 1:
            raise call.refuse("the padding value is computed at run time", "it has to be one constant")
        value = float(dequantise(data, call.type(call.input(2))).ravel()[0])
    padding = tuple((numbers[2 * a], numbers[2 * a + 1]) for a in range(x.rank))
    call.emit("pad", (call.input(0),), padding=padding, value=value)


def _concatenation(call: Call) -> None:
    names = tuple(call.input(i) for i in range(len(call.tensors)) if not call.is_empty(i))
    if not names:
        raise call.damaged("has no input")
    if int(call.option("activation")):
        raise call.refuse("has a fused activation", "CONCATENATION has none")
    axis, kind = call.axis(int(call.option("axis")), call.type(names[0]).rank), call.output_type()
    if kind.quant is not None and kind.elem.bits > 8:  # bytes are rescaled while they are moved
        names = tuple(_rescaled(call, name, kind) for name in names)
    call.emit("concat", names, axis=axis)


def _rescaled(call: Call, name: str, kind: Type) -> str:
    """``name`` in the quantisation of ``kind``. LiteRT copies int16 whatever its scale, which is no concatenation."""
    if call.type(name).quant == kind.quant or call.type(name).elem is not kind.elem:
        return name
    return call.between("quantize", (name,), kind.quant, elem=kind.elem)


def _split_axis(call: Call, x: int, index: int) -> tuple[int, int]:
    """(axis, its length) of a split whose axis is constant input ``index``."""
    numbers = call.integers(index, "the axis")
    if len(numbers) != 1:
        raise call.damaged(f"has {len(numbers)} axes")
    kind = call.type(call.input(x))
    axis = call.axis(numbers[0], kind.rank)
    return axis, kind.shape[axis]


def _split(call: Call) -> None:
    axis, length = _split_axis(call, 1, 0)
    if length % call.output_count:
        raise call.damaged(f"splits {length} into {call.output_count} equal parts")
    call.emit("split", (call.input(1),), axis=axis, sizes=(length // call.output_count,) * call.output_count)


def _split_v(call: Call) -> None:
    axis, length = _split_axis(call, 0, 2)
    sizes = call.integers(1, "the sizes")
    if sizes.count(-1) == 1:
        sizes[sizes.index(-1)] = length - sum(sizes) - 1
    if sum(sizes) != length or any(s < 1 for s in sizes) or len(sizes) != call.output_count:
        raise call.damaged(f"splits {length} into {sizes}")
    call.emit("split", (call.input(0),), axis=axis, sizes=tuple(sizes))


def _slice(call: Call) -> None:
    x = call.type(call.input(0))
    begin, size = call.integers(1, "the begin"), call.integers(2, "the size")
    if len(begin) != x.rank or len(size) != x.rank:
        raise call.damaged(f"slices {x} at {begin} by {size}")
    end = [d if s == -1 else b + s for b, s, d in zip(begin, size, x.shape, strict=True)]
    if any(b == e for b, e in zip(begin, end, strict=True)) and all(
        0 <= b <= d for b, d in zip(begin, x.shape, strict=True)
    ):
        call.emit_empty()
        return
    if any(not 0 <= b < e <= d for b, e, d in zip(begin, end, x.shape, strict=True)):
        raise call.damaged(f"slices {x} at {begin} by {size}")
    call.emit("strided_slice", (call.input(0),), begin=tuple(begin), end=tuple(end), stride=(1,) * x.rank)


def _strided_slice(call: Call) -> None:
    name = call.input(0)
    x = call.type(name)
    begin, end, stride = call.integers(1, "the begin"), call.integers(2, "the end"), call.integers(3, "the stride")
    masks = {key: int(call.option(f"{key}_mask")) for key in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    if not len(begin) == len(end) == len(stride) or len(begin) > 16 or any(s == 0 for s in stride):
        raise call.damaged(f"slices {x} from {begin} to {end} by {stride}")
    if call.option("offset"):
        end = [b + e for b, e in zip(begin, end, strict=True)]
    ranges: list[range] = []
    shape: list[int] = []  # of the result
    for entry in range(len(begin)):
        bit = 1 << entry
        axis = len(ranges)
        if masks["ellipsis"] & bit:
            taken = sum(not masks["new_axis"] >> later & 1 for later in range(entry + 1, len(begin)))
            whole = range(axis, max(x.rank - taken, axis))
            ranges += [range(x.shape[i]) for i in whole]
            shape += [x.shape[i] for i in whole]
        elif masks["new_axis"] & bit:
            shape.append(1)
        elif axis >= x.rank:
            raise call.damaged(f"slices {len(begin)} axes of {x}")
        elif masks["shrink_axis"] & bit:
            index = begin[entry]  # a shrunk axis takes one element; end, stride and begin mask are ignored
            if not -x.shape[axis] <= index < x.shape[axis]:
                raise call.damaged(f"takes element {index} of axis {axis} of {x}")
            ranges.append(range(index % x.shape[axis], index % x.shape[axis] + 1))
        else:
            first = None if masks["begin"] & bit else begin[entry]
            last = None if masks["end"] & bit else end[entry]
            ranges.append(range(x.shape[axis])[slice(first, last, stride[entry])])
            shape.append(len(ranges[-1]))
    rest = x.shape[len(ranges) :]
    _cut(call, [*ranges, *(range(d) for d in rest)], (*shape, *rest))


def _cut(call: Call, ranges: list[range], shape: tuple[int, ...]) -> None:
    """The given indices of each axis, in another shape of as many elements."""
    x = call.type(call.input(0))
    sizes = tuple(len(r) for r in ranges)
    if 0 in sizes:
        raise call.refuse(f"takes {list(sizes)} elements of {x}", "something is left")
    begin, end, stride = (tuple(getattr(r, field) for r in ranges) for field in ("start", "stop", "step"))
    attributes = {"begin": begin, "end": end, "stride": stride}
    if sizes == shape:
        call.emit("strided_slice", (call.input(0),), **attributes)
        return
    name = call.input(0) if sizes == x.shape else call.between("strided_slice", (call.input(0),), x.quant, **attributes)
    call.emit("reshape", (name,), shape=shape)


def _pack(call: Call) -> None:
    names = tuple(call.input(i) for i in range(len(call.inputs)))
    if not names:
        raise call.damaged("has no input")
    first = call.type(names[0])
    axis = call.axis(int(call.option("axis")), first.rank + 1)
    if any(call.type(name).shape != first.shape for name in names):
        raise call.damaged("packs tensors of different shapes")
    shape = (*first.shape[:axis], 1, *first.shape[axis:])
    slabs = tuple(call.between("reshape", (name,), call.type(name).quant, shape=shape) for name in names)
    call.emit("concat", slabs, axis=axis)


def _unpack(call: Call) -> None:
    x, count = call.type(call.input(0)), int(call.option("num"))
    axis = call.axis(int(call.option("axis")), x.rank)
    if not count == x.shape[axis] == call.output_count:
        raise call.damaged(f"makes {count} tensors of {x} along axis {axis}")
    parts: tuple[str, ...] = (call.input(0),)
    if count > 1:
        parts = call.between_many("split", parts, (x.quant,) * count, axis=axis, sizes=(1,) * count)
    for index, part in enumerate(parts):
        call.emit_part(index, "reshape", (part,), shape=(*x.shape[:axis], *x.shape[axis + 1 :]))


OPERATORS: dict[str, Callable[[Call], None]] = {
    "RESHAPE": _reshape,
    "SQUEEZE": _squeeze,
    "EXPAND_DIMS": _expand_dims,
    "TRANSPOSE": _transpose,
    "PAD": _pad,
    "PADV2": _pad,
    "CONCATENATION": _concatenation,
    "SPLIT": _split,
    "SPLIT_V": _split_v,
    "SLICE": _slice,
    "STRIDED_SLICE": _strided_slice,
    "PACK": _pack,
    "UNPACK": _unpack,
}
