"""Resize and Upsample: one gather or one weighted sum an axis."""

from __future__ import annotations

import dataclasses
from typing import Any

from tinydeploy.frontends._resize import MAX_COUNT, Axis, nearest, weighted
from tinydeploy.frontends.onnx_call import Call, Results, normal_axis, refuse, translates
from tinydeploy.frontends.onnx_ops.slicing import bordered
from tinydeploy.ir import Elem


@translates("Upsample")
def upsample(call: Call) -> Results:
    """Nearest or linear by scales: an attribute (opset 7) or an input. Source: ONNX Upsample-9, 7."""
    scales = call.attribute("scales") if call.opset < 9 else _reals(call, 1, "scales")
    axes = [
        Axis(size, int(size * scale), float(scale), "asymmetric")
        for size, scale in zip(call.shape_of(0), scales or (), strict=True)
    ]
    mode = call.attribute("mode", "nearest")
    return (_resized(call, axes, _Kernel("linear" if mode in ("linear", "bilinear") else mode, nearest="floor")),)


@translates("Resize")
def resize(call: Call) -> Results:
    """Every mode, coordinate transformation and policy; scales or sizes are constants. Source: ONNX Resize-19, 10."""
    if call.opset < 11:
        scales = _reals(call, 1, "scales") or ()
        axes = [
            Axis(size, int(size * scale), scale, "asymmetric")
            for size, scale in zip(call.shape_of(0), scales, strict=True)
        ]
        return (_resized(call, axes, _Kernel(call.attribute("mode", "nearest"), nearest="floor")),)
    kernel = _Kernel(
        call.attribute("mode", "nearest"),
        nearest=call.attribute("nearest_mode", "round_prefer_floor"),
        a=float(call.attribute("cubic_coeff_a", -0.75)),
        antialias=bool(call.attribute("antialias", 0)),
        exclude_outside=bool(call.attribute("exclude_outside", 0)),
        outside=float(call.attribute("extrapolation_value", 0.0)),
    )
    return (_resized(call, _axes(call), kernel),)


@dataclasses.dataclass(frozen=True)
class _Kernel:
    """How output elements are made; ``outside``: the value of those that tf_crop_and_resize takes from nowhere."""

    mode: str
    nearest: str = "round_prefer_floor"
    a: float = -0.75
    antialias: bool = False
    exclude_outside: bool = False
    outside: float = 0.0


def _reals(call: Call, index: int, role: str) -> tuple[float, ...] | None:
    """A constant input as numbers, None where it is absent or empty (exporters write empty ones)."""
    data = call.optional(index, role)
    return None if data is None or data.size == 0 else tuple(float(v) for v in data.ravel())


def _axes(call: Call) -> list[Axis]:
    """Every axis of the input as it is resized."""
    shape = call.shape_of(0)
    chosen = call.attribute("axes")
    chosen = tuple(range(len(shape))) if chosen is None else tuple(normal_axis(axis, len(shape)) for axis in chosen)
    transform = call.attribute("coordinate_transformation_mode", "half_pixel")
    roi = _reals(call, 1, "roi") if transform == "tf_crop_and_resize" else None
    scales, sizes = _reals(call, 2, "scales"), call.integers(3, "sizes") or None
    policy = call.attribute("keep_aspect_ratio_policy", "stretch")
    given = sizes or scales
    if given is None or (sizes and scales) or len(given) != len(chosen) or (roi and len(roi) != 2 * len(chosen)):
        raise refuse(f"scales {scales}, sizes {sizes}, roi {roi}", "scales or sizes, one an axis")
    if min(given) <= 0 or max(given) > 1 << 20:
        raise refuse(f"scales {scales}, sizes {sizes}", "more than 0")
    result = [Axis(size, size, 1.0) for size in shape]
    for i, axis in enumerate(chosen):
        if sizes:
            count, scale = sizes[i], sizes[i] / shape[axis]
        else:
            scale = given[i]
            count = int(scale * shape[axis])
        part = (roi[i], roi[i + len(chosen)]) if roi else (0.0, 1.0)
        result[axis] = Axis(shape[axis], count, scale, transform, part)
    if sizes and policy != "stretch":
        _keep_aspect(result, chosen, policy)
    return result


def _keep_aspect(axes: list[Axis], chosen: tuple[int, ...], policy: str) -> None:
    """Give all ``chosen`` axes one scale."""
    if policy not in ("not_larger", "not_smaller"):
        raise refuse(f"keep_aspect_ratio_policy is {policy!r}", "stretch, not_larger or not_smaller")
    scales = [axes[axis].scale for axis in chosen]
    scale = min(scales) if policy == "not_larger" else max(scales)
    for axis in chosen:
        axes[axis] = dataclasses.replace(axes[axis], scale=scale, count=int(scale * axes[axis].size + 0.5))


def _resized(call: Call, axes: list[Axis], kernel: _Kernel) -> str:
    if kernel.mode not in ("nearest", "linear", "cubic") or (kernel.antialias and kernel.mode == "nearest"):
        raise refuse(f"mode {kernel.mode!r}", "nearest, linear or cubic; antialias not with nearest")
    counts = [axis.count for axis in axes]
    if not 1 <= min(counts, default=1) <= max(counts, default=1) <= MAX_COUNT:
        raise refuse(f"makes {counts} elements", f"1 to {MAX_COUNT} an axis")
    x = call.value(0)
    elem = call.type(x).elem
    if kernel.mode != "nearest" and elem is not Elem.F32:
        if not elem.is_float and elem.bits > 16:
            raise refuse(f"mode {kernel.mode} of {elem.value}", "float32, or integers of at most 16 bits")
        x = call.emit("cast", x, elem=Elem.F32)
    changed = [place for place, axis in enumerate(axes) if not _is_same(axis)]
    bilinear = _bilinear(call, axes, changed, kernel)
    if bilinear is not None and elem is Elem.F32:
        x = call.transpose(x, (0, 2, 3, 1))
        x = call.emit("resize_bilinear", x, size=(axes[2].count, axes[3].count), **bilinear)
        return call.transpose(x, (0, 3, 1, 2))
    borders = [(0, 0)] * len(axes)
    # Axes that shrink most come first: what follows has less to do.
    for place in sorted(changed, key=lambda place: axes[place].scale):
        axis = axes[place]
        kept = axis.inside()
        if not kept:
            raise refuse(f"takes nothing of axis {place}", "the roi meets the input")
        rows = slice(kept.start, kept.stop)
        borders[place] = (kept.start, axis.count - kept.stop)
        if kernel.mode == "nearest":
            x = call.emit("gather", x, call.hold(nearest(axis, kernel.nearest)[rows]), axis=place)
        else:
            indices, weights = weighted(
                axis,
                cubic=kernel.mode == "cubic",
                a=kernel.a,
                antialias=kernel.antialias,
                exclude_outside=kernel.exclude_outside,
            )
            x = call.emit("resample", x, call.hold(indices[rows]), call.hold(weights[rows]), axis=place)
    x = bordered(call, x, borders, "constant", kernel.outside)
    return x if elem is call.type(x).elem else call.emit("cast", x, elem=elem)


def _is_same(axis: Axis) -> bool:
    """True if every element stays where it is."""
    return axis.count == axis.size and abs(axis.scale - 1) < 1e-9 and axis.roi == (0.0, 1.0)


def _bilinear(call: Call, axes: list[Axis], changed: list[int], kernel: _Kernel) -> dict[str, Any] | None:
    """Attributes of the operator that resizes the plane of NCHW images at once; None where it does something else."""
    if kernel.mode != "linear" or kernel.antialias or kernel.exclude_outside or len(axes) != 4:
        return None
    if changed != [2, 3] or any(abs(axes[i].scale * axes[i].size - axes[i].count) > 1e-6 for i in changed):
        return None
    kinds: dict[str, dict[str, Any]] = {
        "half_pixel": {"half_pixel_centers": True},
        "half_pixel_symmetric": {"half_pixel_centers": True},
        "asymmetric": {},
        "align_corners": {"align_corners": True},
    }
    kind = kinds.get(axes[2].transform)
    if kind is not None and "align_corners" in kind and min(axes[2].count, axes[3].count) == 1:
        return None
    return kind
