"""What a project folder keeps of its graphs: read back equal, and never trusted."""

from __future__ import annotations

import io
import json
import random
import zipfile

import numpy as np
import pytest

from tests.conftest import REPO
from tinydeploy import pipeline
from tinydeploy.errors import InputError
from tinydeploy.ir.text import to_text
from tinydeploy.ops.serialise import from_bytes, to_bytes

DIGITS = REPO / "examples" / "digits"


@pytest.fixture(scope="module")
def packed() -> bytes:
    graph = pipeline.optimise(pipeline.load(DIGITS / "digits_int8.tflite"))
    return to_bytes({"quantised": graph, "float": graph})


def test_graphs_come_back_equal(packed: bytes) -> None:
    graphs = from_bytes(packed, "a.graphs")
    assert to_text(graphs["quantised"]) == to_text(graphs["float"])
    assert to_bytes(graphs) == packed
    first = next(iter(graphs["float"].nodes))
    data = graphs["float"].constant(first.inputs[1])
    assert data is not None
    assert data.dtype == np.int8


def rewritten(packed: bytes, change) -> bytes:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        parts = {info.filename: archive.read(info) for info in archive.infolist()}
    document = json.loads(parts["graphs.json"])
    change(document)
    parts["graphs.json"] = json.dumps(document).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


CHANGES = {
    "format": lambda d: d.update(format=99),
    "no graphs": lambda d: d.pop("graphs"),
    "unknown operator": lambda d: d["graphs"]["float"]["nodes"][0].__setitem__(1, "os.system"),
    "attribute of another type": lambda d: d["graphs"]["float"]["nodes"][0][2].update(stride="11"),
    "unknown attribute": lambda d: d["graphs"]["float"]["nodes"][0][2].update(nothing=1),
    "huge shape": lambda d: d["graphs"]["float"]["values"][0][1].__setitem__(0, [1 << 40, 1 << 40]),
    "negative shape": lambda d: d["graphs"]["float"]["values"][0][1].__setitem__(0, [-1, 8]),
    "missing value": lambda d: d["graphs"]["float"]["inputs"].append("nobody"),
    "array that is not there": lambda d: d["graphs"]["float"]["values"][1].__setitem__(2, "0" * 64),
}


@pytest.mark.parametrize("case", CHANGES)
def test_changed_files_are_refused(packed: bytes, case: str) -> None:
    with pytest.raises(InputError):
        from_bytes(rewritten(packed, CHANGES[case]), "a.graphs")


def test_damaged_bytes_end_in_our_error_or_a_whole_graph(packed: bytes) -> None:
    generator = random.Random(0)
    for _ in range(150):
        damaged = bytearray(packed)
        for _ in range(generator.randint(1, 8)):
            damaged[generator.randrange(len(damaged))] = generator.randrange(256)
        try:
            from_bytes(bytes(damaged), "a.graphs")
        except InputError:
            continue
    for length in range(0, len(packed), max(1, len(packed) // 60)):
        with pytest.raises(InputError):
            from_bytes(packed[:length], "a.graphs")
