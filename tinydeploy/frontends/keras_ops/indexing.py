"""``x[...]`` between layers."""

from __future__ import annotations

from tinydeploy.frontends.keras_call import Call, operation


@operation("GetItem")
def _get_item(call: Call) -> str:
    """``x[...]`` with whole numbers, slices, None and one "..."."""
    x = call.tensor(call.first())
    shape = call.type(x).shape
    if len(call.args) < 2 and "key" not in call.kwargs:
        raise call.damaged("has no key")
    given = call.args[1] if len(call.args) > 1 else call.kwargs["key"]
    keys = list(given) if isinstance(given, list) else [given]
    used = sum(key is not None and key is not Ellipsis for key in keys)
    spare = [slice(None)] * (len(shape) - used)
    if used > len(shape) or sum(key is Ellipsis for key in keys) > 1:
        raise call.damaged(f"takes {str(keys)[:80]} of {list(shape)}")
    if Ellipsis in keys:
        at = keys.index(Ellipsis)
        keys = [*keys[:at], *spare, *keys[at + 1 :]]
    else:
        keys += spare
    bounds: list[tuple[int, int, int]] = []
    result: list[int] = []
    for key in keys:
        if key is None:
            result.append(1)
            continue
        size = shape[len(bounds)]
        if type(key) is int:
            if not -size <= key < size:
                raise call.damaged(f"takes element {key} of {size}")
            bounds.append((key % size, key % size + 1, 1))
            continue
        if not isinstance(key, slice) or any(type(v) not in (int, type(None)) for v in (key.start, key.stop, key.step)):
            raise call.refuse(f"is indexed by {str(key)[:80]}", "whole numbers and slices")
        if key.step == 0:
            raise call.damaged("has a slice of step 0")
        begin, end, step = key.indices(size)
        length = len(range(begin, end, step))
        if not length:
            raise call.damaged("takes nothing")
        bounds.append((begin, end, step))
        result.append(length)
    first, last, steps = zip(*bounds, strict=True)
    if bounds != [(0, size, 1) for size in shape]:
        x = call.emit("strided_slice", (x,), stem="slice", begin=first, end=last, stride=steps)
    return call.reshape(x, result)
