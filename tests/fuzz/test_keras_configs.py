"""Keras files of every layer whose configuration says something else than Keras wrote: a typed error or a graph."""

from __future__ import annotations

import contextlib
import json
import random
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import keras_cases
from tests.conftest import need_module
from tinydeploy.errors import InputError, UnsupportedError
from tinydeploy.frontends import load

MAX_SECONDS = 5.0
_NUMBERS = [0, 1, -1, 2, 3, 7, -5, 1 << 19, 1 << 20, 1 << 40, 0.5, 1e30, 1e300, float("nan")]
_WORDS = ["", "x", "same", "valid", "relu", "concat", "channels_first", "float16"]
_NESTED = [
    [],
    {},
    [1],
    [-1],
    [0],
    [1, 2],
    [2, 3, 1],
    [[1, 2], [3, 4]],
    [None],
    [[[1]]],
    [1 << 20, 1 << 20],
    ["a", 0, 0],
]
_OBJECTS = [{"class_name": "x"}, {"config": {}}, {"class_name": "function", "config": "relu"}]
VALUES = [None, True, False, *_NUMBERS, *_WORDS, *_NESTED, *_OBJECTS]


def _places(node: Any) -> list[tuple[Any, Any]]:
    """(holder, key) of every value in it."""
    items = list(node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ())
    return [(node, key) for key, _ in items] + [place for _, value in items for place in _places(value)]


def changed(text: str, rng: random.Random) -> str:
    """A configuration with one to three values changed, copied over others, or gone."""
    config = json.loads(text)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        holder, key = rng.choice(_places(config))
        what = rng.random()
        if what < 0.2 and isinstance(holder, dict):
            del holder[key]
        elif what < 0.3:
            other, place = rng.choice(_places(config))
            holder[key] = json.loads(json.dumps(other[place]))
        else:
            holder[key] = json.loads(json.dumps(rng.choice(VALUES)))
    return json.dumps(config)


def _rewritten(source: Path, target: Path, rng: random.Random) -> None:
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(target, "w") as result:
        for name in archive.namelist():
            content = archive.read(name)
            result.writestr(name, changed(content.decode(), rng) if name == "config.json" else content)


@pytest.mark.slow
def test_changed_configurations(tmp_path) -> None:
    need_module("keras", "tensorflow")
    import keras

    tried = 0
    for number, (_, text, shapes) in enumerate(keras_cases.everything(3)):
        whole, damaged = tmp_path / "whole.keras", tmp_path / "damaged.keras"
        keras_cases.build(keras, text, shapes).save(whole)
        for seed in range(15):
            _rewritten(whole, damaged, random.Random(1000 * number + seed))
            start = time.monotonic()
            with contextlib.suppress(InputError, UnsupportedError):
                load(damaged)
            assert time.monotonic() - start < MAX_SECONDS, (text, seed)
            tried += 1
    assert tried > 5000
