"""Preprocessing that has the same result each time: numbers to numbers, and images to images."""

from __future__ import annotations

import numpy as np

from tinydeploy.frontends.keras_call import Call, layer
from tinydeploy.frontends.keras_ops._planes import back, positions
from tinydeploy.frontends.keras_ops._resize import FILTERS, resize
from tinydeploy.frontends.keras_ops.normalisation import given
from tinydeploy.ir import Elem


@layer("Rescaling", mask="passes")
def _rescaling(call: Call) -> str:
    x = call.input()
    scale = given(call, "scale")
    offset = given(call, "offset")
    if scale is None:
        raise call.damaged("has no scale")
    moved = offset is not None and bool(np.any(offset))
    y = call.emit("mul", (x, call.constant("scale", scale)), stem="scale" if moved else "")
    return call.emit("add", (y, call.constant("offset", np.asarray(offset)))) if moved else y


def _image(call: Call) -> tuple[str, tuple[int, int, int, int], bool]:
    """An image of rank 4 with the channels last, its shape, and what `_result` needs; one without a batch gets one."""
    if call.type(call.input()).rank == 3:
        raise call.refuse("works on one image without a batch", "its input has a batch axis")
    x, first = positions(call, 2)
    n, h, w, c = call.type(x).shape
    return x, (n, h, w, c), first


@layer("Resizing")
def _resizing(call: Call) -> str:
    x, (_, height, width, _), first = _image(call)
    size = call.whole("height"), call.whole("width")
    method = str(call.config.get("interpolation", "bilinear"))
    if method not in ("nearest", *FILTERS):
        raise call.refuse(f"interpolates by {method[:80]!r}", f"nearest, {', '.join(FILTERS)}")
    if call.config.get("crop_to_aspect_ratio"):
        # As many rows or columns as have the new image's proportions, from the middle.
        rows = min(height, int(width * size[0] / size[1]))
        columns = min(width, int(height * size[1] / size[0]))
        x = _crop(call, x, ((height - rows) // 2, (width - columns) // 2), (max(rows, 1), max(columns, 1)))
    elif call.config.get("pad_to_aspect_ratio"):
        rows = max(height, int(width * size[0] / size[1]))
        columns = max(width, int(height * size[1] / size[0]))
        top, left = (rows - height) // 2, (columns - width) // 2
        ends = ((0, 0), (top, top), (left, left), (0, 0))
        x = call.emit("pad", (x,), stem="pad", padding=ends, value=call.number("fill_value", 0.0))
    antialias = bool(call.config.get("antialias", False))
    return back(call, resize(call, x, size, method, antialias), first)


@layer("CenterCrop")
def _center_crop(call: Call) -> str:
    """Cuts; an image that is too small is resized first, so that the cut has the wanted proportions."""
    x, (_, height, width, _), first = _image(call)
    size = call.whole("height"), call.whole("width")
    if height < size[0] or width < size[1]:
        rows, columns = int(width * size[0] / size[1]), int(height * size[1] / size[0])
        rows, columns = max(min(height, rows), 1), max(min(width, columns), 1)
        x = _crop(call, x, ((height - rows) // 2, (width - columns) // 2), (rows, columns))
        return back(call, resize(call, x, size, "bilinear"), first)
    y = _crop(call, x, ((height - size[0]) // 2, (width - size[1]) // 2), size)
    return back(call, y, first)


def _crop(call: Call, x: str, start: tuple[int, int], size: tuple[int, int]) -> str:
    x = call.slice(x, 1, start[0], start[0] + size[0], stem="rows")
    return call.slice(x, 2, start[1], start[1] + size[1], stem="columns")


@layer("Discretization")
def _discretization(call: Call) -> str:
    """The number of boundaries that are not above the value."""
    if call.config.get("output_mode", "int") != "int" or call.config.get("sparse"):
        raise call.refuse(f"has output_mode {str(call.config.get('output_mode'))[:80]!r}", "output_mode is 'int'")
    edges = given(call, "bin_boundaries")
    if edges is None:
        raise call.refuse("has no bin_boundaries", hint="save the model after adapt()")
    x = call.input()
    wide = call.reshape(x, (*call.type(x).shape, 1), "wide")
    above = call.emit("greater_equal", (wide, call.constant("boundaries", edges.reshape(-1))), stem="above")
    counted = call.emit("cast", (above,), stem="counted", elem=Elem.S32)
    return call.emit("reduce_sum", (counted,), axes=(call.type(counted).rank - 1,), keep_dims=False)


@layer("CategoryEncoding")
def _category_encoding(call: Call) -> str:
    mode, depth = call.config.get("output_mode", "multi_hot"), call.whole("num_tokens")
    if mode not in ("one_hot", "multi_hot", "count") or call.config.get("sparse") or len(call.operands) != 1:
        raise call.refuse(f"has output_mode {str(mode)[:80]!r}", "one_hot, multi_hot or count; no weights")
    x = call.tensor(call.operands[0])
    if call.type(x).elem not in (Elem.S32, Elem.S64):
        x = call.emit("cast", (x,), stem="indices", elem=Elem.S32)
    shape = call.type(x).shape
    if mode == "one_hot" and shape[-1] == 1 and len(shape) > 1:
        x = call.reshape(x, shape[:-1], "squeeze")
    values = call.constant("values", np.asarray([0, 1], np.float32))
    single = mode == "one_hot" or len(shape) == 1
    y = call.emit(
        "one_hot", (x, values), stem="" if single else "hot", depth=depth, axis=call.type(x).rank, from_end=False
    )
    if single:
        return y
    reducer = "reduce_max" if mode == "multi_hot" else "reduce_sum"
    return call.emit(reducer, (y,), axes=(call.type(y).rank - 2,), keep_dims=False)
