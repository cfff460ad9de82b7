"""`validate --per-layer`: the node that differs is named, a healthy model is exact in every node, float nodes count."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import REPO, need_module, need_tool
from tinydeploy import ops, pipeline
from tinydeploy.errors import BoardError, InputError
from tinydeploy.ir import Elem, Graph, Quant, State, Type
from tinydeploy.target import toolchain
from tinydeploy.target.board import load_board
from tinydeploy.validation import check

DIGITS = REPO / "examples" / "digits" / "digits_int8.tflite"
PLACES = [("host", "host"), pytest.param("cortex-m4f", "mps2-an386", marks=pytest.mark.qemu)]


def write(graph: Graph, cpu: str, folder: Path, name: str) -> pipeline.Folder:
    options = pipeline.ConvertOptions(cpu=cpu, name=name, check=False)
    pipeline.compile_graph(graph, graph, options, None).write(folder)
    return pipeline.open_folder(folder)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pipeline.Folder]:
    """The digits model by the CPU it is made for."""
    need_tool("gcc")
    graph = pipeline.optimise(pipeline.load(DIGITS))
    root = tmp_path_factory.mktemp("digits")
    return {cpu: write(graph, cpu, root / cpu, "digits") for cpu in ("host", "cortex-m4f")}


def copy_of(folder: pipeline.Folder, tmp_path: Path) -> pipeline.Folder:
    shutil.copytree(folder.path, tmp_path / "copy", ignore=shutil.ignore_patterns("build"))
    return pipeline.open_folder(tmp_path / "copy")


def drawn(graph: Graph, count: int = 6) -> check.Samples:
    return check.prepare(graph, check.random_samples(graph, count), None)


def computing(folder: pipeline.Folder) -> list[str]:
    return [node["name"] for node in folder.manifest["nodes"] if node["function"]]


def flip_a_weight(folder: pipeline.Folder, number: int) -> None:
    """Change one bit of the first number in the largest table of a node."""
    source = folder.path / f"{folder.manifest['name']}.c"
    text = source.read_text("utf-8")
    tables = re.finditer(rf"static const [^\n]* n{number}_\w+\[(\d+)\] = {{\n *(-?\w+)", text)
    largest = max(tables, key=lambda table: int(table[1]))
    value = int(largest[2].rstrip("u"), 0) ^ 0x40
    source.write_text(f"{text[: largest.start(2)]}{value}{'u' * (value > 127)}{text[largest.end(2) :]}", "utf-8")


@pytest.mark.parametrize(("cpu", "board"), PLACES)
def test_the_node_with_a_wrong_weight_is_named(folders, cpu: str, board: str, tmp_path: Path) -> None:
    if board != "host":
        need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    weighted = [
        (number, node["name"])
        for number, node in enumerate(folders[cpu].manifest["nodes"])
        if node["op"] in ("conv2d", "depthwise_conv2d", "fully_connected")
    ]
    for number, name in (weighted[1], weighted[-1]):
        folder = copy_of(folders[cpu], tmp_path / name)
        flip_a_weight(folder, number)
        result = pipeline.validate(folder, board, drawn(folder.quantised), profile=False, per_layer=True)
        assert result["first_differing_node"] == name
        exact = {row["name"]: row["exact"] for row in result["per_layer"] if row["exact"] is not None}
        order = computing(folder)
        assert list(exact) == order
        assert all(exact[before] for before in order[: order.index(name)])
        row = next(row for row in result["per_layer"] if row["name"] == name)
        assert row["first_difference"]["device"] != row["first_difference"]["twin"]


def test_the_command_names_it(folders, tmp_path: Path) -> None:
    folder = copy_of(folders["host"], tmp_path)
    number, name = next((i, n["name"]) for i, n in enumerate(folder.manifest["nodes"]) if n["op"] == "fully_connected")
    flip_a_weight(folder, number)
    command = [sys.executable, "-m", "tinydeploy", "validate", folder.path, "--board", "host", "--random", "20"]
    command += ["--per-layer", "--json", tmp_path / "result.json"]
    ran = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
    assert ran.returncode == 4
    assert f"first node that differs from the twin: {name}, " in ran.stdout
    assert f"the first node that differs is {name!r}" in ran.stderr
    result = json.loads((tmp_path / "result.json").read_text("utf-8"))
    assert result["first_differing_node"] == name
    sample = result["first_mismatch"]["index"][0]
    assert result["traced_samples"] == sorted({0, 1, 2, 3, sample})


@pytest.mark.parametrize(("cpu", "board"), PLACES)
def test_a_healthy_model_is_exact_and_the_firmware_stays_as_it_is(folders, cpu: str, board: str, tmp_path) -> None:
    folder = folders[cpu]
    if board != "host":
        need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    result = pipeline.validate(folder, board, drawn(folder.quantised), per_layer=True)
    assert result["bit_exact"]
    assert result["first_differing_node"] is None
    assert {row["name"] for row in result["per_layer"] if row["exact"]} == set(computing(folder))
    assert not any(row["first_difference"] for row in result["per_layer"])
    if board == "host":
        return
    normal = pipeline.build(folder.path, board)
    assert b"td_trace" not in normal.elf.read_bytes()
    bare = copy_of(folder, tmp_path)
    source = bare.path / "digits.c"
    text = source.read_text("utf-8")
    assert text.count("TD_AFTER_NODE(") == len(computing(folder))
    source.write_text(re.sub(r" *TD_AFTER_NODE\(.*\n", "", text), "utf-8")
    assert pipeline.build(bare.path, board).bin.read_bytes() == normal.bin.read_bytes()
    with pytest.raises(InputError, match="has no hooks behind its nodes"):
        pipeline.validate(bare, board, drawn(folder.quantised), profile=False, per_layer=True)


class Sketch:
    """Builds a graph node by node; the last node's outputs are the graph's."""

    def __init__(self, *shape: int, quant: Quant) -> None:
        self.graph = Graph("sketch")
        self.graph.inputs.append(self.graph.add_value("x", Type(shape, Elem.S8, quant)))

    def then(self, name: str, kind: str, *inputs: str, quant: Quant | None = None, **attributes: object) -> str:
        node = self.graph.add_node(name, ops.registry()[kind](**attributes), inputs)
        for output in node.outputs:
            kind_of = self.graph.type(output)
            self.graph.values[output].type = Type(kind_of.shape, kind_of.elem, quant)
        self.graph.outputs = list(node.outputs)
        return node.outputs[0]


def islands(last: bool) -> Graph:
    """int8 -> float -> transposed -> int8 (-> float, an output)."""
    sketch = Sketch(1, 4, 6, quant=Quant.per_tensor(0.1, 3))
    real = sketch.then("to_float", "dequantize", "x")
    turned = sketch.then("turned", "transpose", real, perm=(0, 2, 1))
    seen = sketch.then("seen", "reshape", turned, shape=(1, 24))
    small = sketch.then("to_int8", "quantize", seen, elem=Elem.S8, quant=Quant.per_tensor(0.15, -5))
    if last:
        sketch.then("at_end", "dequantize", small)
    return sketch.graph


@pytest.mark.parametrize(("cpu", "board"), PLACES)
@pytest.mark.parametrize("last", [False, True])
def test_float_nodes(cpu: str, board: str, last: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_tool("gcc")
    if board != "host":
        need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    folder = write(islands(last), cpu, tmp_path / "islands", "islands")
    result = pipeline.validate(folder, board, drawn(folder.quantised))
    assert result["bit_exact"]
    names = ["to_float", "turned", *(["at_end"] if last else [])]
    assert result["float_islands"] == [{"node": name, "tolerance": 1e-5, "max_rel_error": 0.0} for name in names]
    assert "per_layer" not in result

    def no_room(*_: object, **__: object) -> None:
        raise BoardError([])

    for build in ("build_firmware", "build_host"):
        monkeypatch.setattr(f"tinydeploy.validation.trace.{build}", no_room)
    result = pipeline.validate(folder, board, drawn(folder.quantised), profile=False)
    errors = {island["node"]: island["max_rel_error"] for island in result["float_islands"]}
    assert errors == {"to_float": None, "turned": None, **({"at_end": 0.0} if last else {})}


@pytest.mark.parametrize(("cpu", "board"), PLACES)
def test_sequences_and_nodes_with_several_outputs(cpu: str, board: str, tmp_path: Path) -> None:
    """total = total + x, halves of it; a state that goes wrong is seen at the node and step where it does."""
    need_tool("gcc")
    if board != "host":
        need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    quant = Quant.per_tensor(0.5, 0)
    sketch = Sketch(1, 8, quant=quant)
    sketch.graph.add_value("total", Type((1, 8), Elem.S8, quant))
    total = sketch.then("sum", "add", "total", "x", quant=quant)
    sketch.then("halves", "split", total, axis=1, sizes=(4, 4), quant=quant)
    sketch.graph.states = [State("total", "total", total, np.zeros((1, 8), np.int8))]
    folder = write(sketch.graph, cpu, tmp_path / "sums", "sums")
    steps = np.random.default_rng(1).integers(-9, 9, (6, 5, 1, 8), dtype=np.int8)
    samples = check.prepare(folder.quantised, {"x": steps}, None)
    result = pipeline.validate(folder, board, samples, profile=False, per_layer=True)
    assert result["bit_exact"]
    assert [row["exact"] for row in result["per_layer"]] == [True, True]

    source = folder.path / "sums.c"
    text = source.read_text("utf-8")
    hook = text.index("TD_AFTER_NODE(1,", text.index("void sums_run("))
    place = re.match(r"TD_AFTER_NODE\(1, ([^,]*),", text[hook:])
    assert place is not None
    broken = f"if ((int8_t)({place[1]})[0] > 9) {{ ({place[1]})[0] ^= 1; }}\n    "
    source.write_text(text[:hook] + broken + text[hook:], "utf-8")
    result = pipeline.validate(folder, board, samples, profile=False, per_layer=True)
    assert result["first_differing_node"] == "halves"
    assert [row["exact"] for row in result["per_layer"]] == [True, False]
    where = next(row["first_difference"] for row in result["per_layer"] if row["exact"] is False)
    assert where["index"] == tuple(result["first_mismatch"]["index"])


def test_trace_builds_have_their_own_folder(folders, tmp_path: Path) -> None:
    need_tool("arm-none-eabi-gcc")
    folder = copy_of(folders["cortex-m4f"], tmp_path)
    traced = toolchain.build_firmware(folder.path, load_board("mps2-an386"), trace=True)
    program = toolchain.build_host(folder.path, sanitize=True, trace=True)
    assert (traced.folder.name, program.parent.name) == ("mps2-an386-trace", "host-sanitize-trace")
    assert sorted(path.name for path in (folder.path / "build").iterdir()) == [
        "host-sanitize-trace",
        "mps2-an386-trace",
    ]


def test_the_toy_is_traced_from_its_command(tmp_path: Path) -> None:
    """State and sequences, from the file on."""
    need_module("onnx")
    need_tool("gcc")
    subprocess.run([sys.executable, REPO / "examples" / "toy" / "make_toy.py", "-o", tmp_path], check=True)
    data = tmp_path / "toy_calibration.npz"
    command = [sys.executable, "-m", "tinydeploy", "deploy", tmp_path / "toy.onnx", "--state", "h_in=h_out"]
    command += ["--board", "host", "--calibration", data, "--data", data, "--samples", "3", "--per-layer", "--no-check"]
    ran = subprocess.run([*command, "-o", tmp_path / "out"], cwd=REPO, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "every node equals the twin in every bit, in the 3 samples traced" in ran.stdout
