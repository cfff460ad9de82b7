"""Damage to model files: of their bytes, and of what they say."""

from __future__ import annotations

import copy
import io
import json
import random
import zipfile
from typing import Any

WORDS = [b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\0\0\0\0", b"\0\0\1\0", b"\xff" * 8]
NUMBERS = [0, 1, -1, 2, 3, 4, 7, 255, 256, 65535, 65536, 2**31 - 1, -(2**31), 2**31, 2**32, 2**62, -(2**63), 2**63 - 1]
NAMES = ["", "x", "a" * 100_000, 'quo"te', "new\nline", "*/ end", "../../etc", "nul\0", "\U0001f600", "int", "while"]
VALUES: list[Any] = [
    *(None, 0, -1, 1, 2.5, 1e30, 10**30, "", "x", "same", [], {}, [1, 2], [[1, 2], [3, 4]], True, False, [None]),
    *("relu", 2**31, "channels_first", ["x", 0, 0], [["x", 0, 0]], {"class_name": "ReLU", "config": {}}),
    {"config": None},
]


def of_bytes(data: bytes, rng: random.Random) -> bytes:
    """One of: cut short, bits flipped, bytes replaced, a word replaced, a run of noise, a run copied elsewhere."""
    mode, bad = rng.randrange(6), bytearray(data)
    if mode == 0:
        return data[: rng.randrange(len(data))]
    if mode == 1:
        for _ in range(rng.choice([1, 2, 8, 64])):
            bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
    elif mode == 2:
        for _ in range(rng.choice([1, 4, 16])):
            bad[rng.randrange(len(bad))] = rng.choice([0, 1, 127, 128, 255])
    elif mode == 3:
        word, start = rng.choice(WORDS), rng.randrange(len(bad)) & (-4 if rng.randrange(2) else -1)
        bad[start : start + len(word)] = word
    elif mode == 4:
        start = rng.randrange(len(bad))
        bad[start : start + 32] = rng.randbytes(min(32, len(bad) - start))
    else:
        size = rng.choice([4, 16, 64])
        start, to = rng.randrange(len(bad)), rng.randrange(len(bad))
        bad[to : to + size] = bad[start : start + size]
    return bytes(bad)


def of_onnx(data: bytes, rng: random.Random) -> bytes:
    """Fields of the message replaced, removed, doubled; what results is a whole message that means nothing."""
    import onnx

    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except Exception:
        return of_bytes(data, rng)
    for _ in range(rng.choice([1, 1, 2, 4])):
        _message(model, rng)
    try:
        return bytes(model.SerializeToString())
    except Exception:
        return data


def _message(model: Any, rng: random.Random) -> None:
    """Change one field somewhere below ``model``."""
    spots: list[tuple[Any, Any]] = []
    waiting = [model]
    while waiting:
        message = waiting.pop()
        for field, content in message.ListFields():
            spots.append((message, field))
            if field.type == field.TYPE_MESSAGE:
                waiting.extend(content if _repeated(field) else [content])
    if not spots:
        return
    message, field = rng.choice(spots)
    try:
        if _repeated(field):
            items = getattr(message, field.name)
            place = rng.randrange(len(items))
            mode = rng.randrange(3)
            if mode == 0:
                del items[place]
            elif field.type == field.TYPE_MESSAGE:
                items.add().CopyFrom(items[place])
            elif mode == 1:
                items.append(items[place])
            else:
                items[place] = _value(field, rng, items[place])
        elif rng.randrange(4) == 0:
            message.ClearField(field.name)
        elif field.type != field.TYPE_MESSAGE:
            setattr(message, field.name, _value(field, rng, getattr(message, field.name)))
    except (ValueError, TypeError):
        return  # the number does not fit the field


def _repeated(field: Any) -> bool:
    flag = getattr(field, "is_repeated", None)
    return bool(flag) if flag is not None else field.label == field.LABEL_REPEATED


def _value(field: Any, rng: random.Random, old: Any) -> Any:
    if isinstance(old, str):
        return rng.choice(NAMES)
    if isinstance(old, bytes):
        return of_bytes(old, rng) if old else rng.randbytes(rng.choice([1, 8, 64]))
    if isinstance(old, float):
        return rng.choice([0.0, -1.0, float("nan"), float("inf"), 1e30, 1e-30])
    return rng.choice(NUMBERS)


def of_keras(data: bytes, rng: random.Random) -> bytes:
    """The configuration of a `.keras` archive with values replaced, removed or taken from elsewhere."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        config = json.loads(parts["config.json"])
    except (zipfile.BadZipFile, KeyError, ValueError):
        return of_bytes(data, rng)
    if rng.randrange(4) == 0:
        parts["model.weights.h5"] = of_bytes(parts["model.weights.h5"], rng)
    for _ in range(rng.choice([1, 1, 2, 4])):
        spots = _spots(config, [])
        if not spots:
            break
        item, key = rng.choice(spots)
        if rng.randrange(3) == 0 and isinstance(item, dict):
            del item[key]
        else:
            other = rng.choice(spots)
            taken = other[0].get(other[1]) if isinstance(other[0], dict) else None
            item[key] = copy.deepcopy(rng.choice([rng.choice(VALUES), rng.choice(NAMES), taken]))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in {**parts, "config.json": json.dumps(config).encode()}.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _spots(item: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    for key in item if isinstance(item, dict) else range(len(item)) if isinstance(item, list) else ():
        found.append((item, key))
        _spots(item[key], found)
    return found


STRUCTURED = {".onnx": of_onnx, ".keras": of_keras}


def damage(suffix: str, data: bytes, rng: random.Random) -> bytes:
    """A damaged copy, by bytes or, half the time where the format allows it, by meaning."""
    structured = STRUCTURED.get(suffix)
    return structured(data, rng) if structured is not None and rng.randrange(2) else of_bytes(data, rng)
