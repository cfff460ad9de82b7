"""A miniature project on every board: same answers everywhere, counted, measured, and every failure explained."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import need_tool
from tests.emulated.mini_project import expected, sequences, write_mini
from tinydeploy.errors import BoardError, InputError, ToolError, ValidationError
from tinydeploy.target import toolchain
from tinydeploy.target.board import board_names, load_board
from tinydeploy.target.toolchain import build_firmware, build_host
from tinydeploy.validation import profile, qemu
from tinydeploy.validation.host import run_host
from tinydeploy.validation.qemu import run_qemu

QEMU_BOARDS = [name for name in board_names() if load_board(name).kind == "qemu"]
pytestmark = pytest.mark.qemu


@pytest.fixture(autouse=True)
def _tools() -> None:
    need_tool("arm-none-eabi-gcc", "qemu-system-arm", "gcc")


def run(project: Path, board: str, inputs=None, *, opt: str = "-O2", timeout: float = 30, count: bool = True):
    build = build_firmware(project, board, opt=opt)
    return run_qemu(build, load_board(board), inputs or sequences(), timeout=timeout, profile=count)


def manifest(project: Path) -> dict:
    return json.loads((project / "manifest.json").read_text())


def check(outputs: dict[str, np.ndarray], inputs: dict[str, np.ndarray]) -> None:
    for name, want in expected(inputs).items():
        np.testing.assert_array_equal(outputs[name], want, strict=True)


@pytest.mark.parametrize("board", QEMU_BOARDS)
def test_answers_counts_and_sizes(board: str, tmp_path: Path) -> None:
    project, inputs = write_mini(tmp_path / "mini"), sequences()
    build = build_firmware(project, board)
    result = run_qemu(build, load_board(board), inputs, timeout=30, profile=True)
    check(result.outputs, inputs)

    counts = result.instructions
    assert counts["method"] == "tcg-plugin"
    assert counts["min"] == counts["max"] == counts["per_inference"]
    assert [node["name"] for node in counts["per_node"]] == ["scale", "sum"]
    nodes = sum(node["instructions"] for node in counts["per_node"])
    assert nodes + counts["overhead"] == counts["per_inference"] < 400
    assert all(node["instructions"] > 50 for node in counts["per_node"])
    assert counts["init"] > 32
    assert sum(function["instructions"] for function in counts["hot"]) == counts["per_inference"]
    if load_board(board).cpu.klass == "mve":
        assert result.cycles_estimated is None
    else:
        assert result.cycles_estimated["per_inference"] > counts["per_inference"]

    facts = json.loads((build.folder / "build.json").read_text())
    flash, ram = facts["flash"], facts["ram"]
    assert flash["total"] == flash["weights"] + flash["code"] + flash["baseline"]
    assert flash["weights"] == 300
    assert 100 < flash["code"] < 400
    assert flash["baseline"] < 2000
    assert (ram["arena"], ram["state"], ram["static"]) == (64, 32, 0)
    # The kernel's 128-byte array is on the stack: measured use is never above the proof.
    assert 128 <= result.stack_bytes <= ram["stack_bound"] < 256
    assert build.bin.stat().st_size <= flash["total"]
    assert build.hex.read_text().startswith(":")


@pytest.mark.parametrize("opt", ["-O0", "-Os"])
@pytest.mark.parametrize("board", ["microbit", "mps3-an547"])
def test_other_optimisation_levels(board: str, opt: str, tmp_path: Path) -> None:
    inputs = sequences()
    result = run(write_mini(tmp_path / "mini"), board, inputs, opt=opt)
    check(result.outputs, inputs)
    assert result.instructions["per_node"][1]["instructions"] > 50


def test_host_plain_and_sanitised(tmp_path: Path) -> None:
    project, inputs = write_mini(tmp_path / "mini"), sequences()
    for options in ({}, {"sanitize": True}, {"opt": "-O0"}, {"opt": "-Os", "cc": "clang"}):
        if options.get("cc"):
            need_tool("clang")
        result = run_host(build_host(project, **options), manifest(project), inputs)
        check(result.outputs, inputs)
        assert result.stack_bytes is None
        assert result.instructions is None


def test_caller_owned_buffers(tmp_path: Path) -> None:
    project, inputs = write_mini(tmp_path / "mini", caller_io=True), sequences()
    check(run_host(build_host(project, sanitize=True), manifest(project), inputs).outputs, inputs)
    check(run(project, "mps2-an386", inputs).outputs, inputs)


def test_a_sample_without_steps_is_one_step(tmp_path: Path) -> None:
    inputs = sequences(samples=4, steps=1)
    flat = {name: array[:, 0] for name, array in inputs.items()}
    result = run(write_mini(tmp_path / "mini"), "mps2-an386", flat)
    np.testing.assert_array_equal(result.outputs["y"], expected(inputs)["y"][:, 0], strict=True)


def test_unchanged_inputs_are_not_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = write_mini(tmp_path / "mini")
    first = build_firmware(project, "microbit")
    program = build_host(project)
    with monkeypatch.context() as patch:
        patch.setattr(toolchain, "_compile_all", lambda *_: pytest.fail("compiled again"))
        assert build_firmware(project, "microbit") == first
        assert build_host(project) == program
    (project / "runtime" / "src" / "td_mini.c").write_text(
        (project / "runtime" / "src" / "td_mini.c")
        .read_text()
        .replace("sums[i] += product[i]", "sums[i] -= product[i]")
    )
    assert build_firmware(project, "microbit").key != first.key


def test_builds_do_not_depend_on_place(tmp_path: Path) -> None:
    images = []
    for place in ("a", "b/c, d"):
        images.append(build_firmware(write_mini(tmp_path / place), "mps2-an386").bin.read_bytes())
    assert images[0] == images[1]


def test_hang_is_stopped(tmp_path: Path) -> None:
    project = write_mini(tmp_path / "mini", extra='for (;;) { __asm__ volatile(""); }')
    start = time.monotonic()
    with pytest.raises(ValidationError, match=r"mini on mps2-an386: did not end within 2 s"):
        run(project, "mps2-an386", timeout=2)
    assert time.monotonic() - start < 15
    with pytest.raises(ValidationError, match="did not end within 2 s"):
        run_host(build_host(project), manifest(project), sequences(), timeout=2)


# An address where the board has nothing: what is empty on one is memory on another.
@pytest.mark.parametrize(
    ("board", "address"),
    [("microbit", 0xD0000000), ("mps2-an386", 0xD0000000), ("mps2-an505", 0xD0000000), ("mps3-an547", 0x0F000000)],
)
def test_fault_shows_registers(board: str, address: int, tmp_path: Path) -> None:
    wild = f"sum += *(volatile int32_t *)(uintptr_t){address:#x}u;"
    with pytest.raises(ValidationError, match=r"took a fault(?s:.*)PC=0x[0-9a-f]{8} LR=0x") as caught:
        run(write_mini(tmp_path / "mini", extra=wild), board)
    assert "PC is in mini_node1+0x" in str(caught.value)
    if board != "microbit":
        assert "CFSR=0x" in str(caught.value)
        assert f"BFAR=0x{address:08x}" in str(caught.value)


def test_stack_overflow_is_named(tmp_path: Path) -> None:
    deep = "{ volatile uint8_t big[20000]; for (int32_t i = 19999; i >= 0; i -= 4) { big[i] = 1; } sum += big[0]; }"
    project = write_mini(tmp_path / "mini", extra=deep)
    with pytest.raises(BoardError, match=r"microbit: is too small for mini: ram is \d+ bytes short"):
        run(project, "microbit")
    assert run(project, "mps2-an386").stack_bytes > 20000


def test_undefined_behaviour_is_found_on_host(tmp_path: Path) -> None:
    project = write_mini(tmp_path / "mini", extra="sum = 0x7fffffff; sum += extra[0] > -1000 ? 1 : 0;")
    with pytest.raises(ValidationError, match=r"a sanitizer found a fault(?s:.*)signed integer overflow"):
        run_host(build_host(project, sanitize=True), manifest(project), sequences())


def test_board_too_small_says_by_how_much(tmp_path: Path) -> None:
    with pytest.raises(BoardError, match=r"ram is 3648 bytes short") as caught:
        build_firmware(write_mini(tmp_path / "a", arena=19488), "microbit")
    assert caught.value.exit_code == 1
    # Only the linker knows this one: the manifest does not say how large the weights are.
    with pytest.raises(BoardError, match=r"flash is \d+ bytes short"):
        build_firmware(write_mini(tmp_path / "b", weights=262144), "microbit")
    with pytest.raises(BoardError, match=r"ram is \d+ bytes short"):
        build_firmware(write_mini(tmp_path / "c", arena=16384 - 512 - 32), "microbit")


def test_a_folder_runs_where_its_features_are(tmp_path: Path) -> None:
    inputs = sequences()
    for cpu in ("cortex-m0", "cortex-m4f"):
        check(run(write_mini(tmp_path / cpu, cpu=cpu), "mps3-an547", inputs).outputs, inputs)
    with pytest.raises(BoardError, match="lacks mve"):
        build_firmware(write_mini(tmp_path / "m55", cpu="cortex-m55"), "mps2-an386")
    with pytest.raises(BoardError, match="lacks thumb2"):
        build_firmware(write_mini(tmp_path / "m3", cpu="cortex-m3"), "microbit")


def test_missing_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = write_mini(tmp_path / "mini")
    build = build_firmware(project, "mps2-an386")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="sudo apt-get install gcc-arm-none-eabi") as caught:
        build_firmware(project, "mps2-an385")
    assert caught.value.exit_code == 3
    with pytest.raises(ToolError, match="sudo apt-get install qemu-system-arm"):
        run_qemu(build, load_board("mps2-an386"), sequences())
    with pytest.raises(ToolError, match="sudo apt-get install gcc"):
        build_host(project)


@pytest.mark.parametrize("board", ["mps2-an386", "microbit", "mps2-an505", "mps3-an547"])
def test_instruction_clock_is_the_fallback(board: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    busy = "for (volatile int32_t i = 0; i < 20000; ++i) { }"
    project = write_mini(tmp_path / "mini", extra=busy)
    exact = run(project, board).instructions
    monkeypatch.setattr(profile, "plugin_path", lambda _: None)
    coarse = run(project, board).instructions
    assert coarse["method"] == "icount"
    assert coarse["per_node"] == []
    assert coarse["per_inference"] == pytest.approx(exact["per_inference"], rel=0.02)


def test_wrong_arrays_are_all_listed(tmp_path: Path) -> None:
    project = write_mini(tmp_path / "mini")
    build = build_firmware(project, "mps2-an386")
    wrong = {"x": np.zeros((2, 7), np.int8), "extra": np.zeros((2, 3), np.int32), "more": np.zeros(3)}
    with pytest.raises(InputError) as caught:
        run_qemu(build, load_board("mps2-an386"), wrong)
    text = str(caught.value)
    for part in ("expected [samples, steps, 1, 8]", "has dtype int32", "'more'"):
        assert part in text
    with pytest.raises(InputError, match="disagree"):
        run_qemu(build, load_board("mps2-an386"), {**sequences(3), "extra": sequences(4)["extra"]})


def test_code_with_warnings_does_not_build(tmp_path: Path) -> None:
    project = write_mini(tmp_path / "mini", extra="int8_t narrow = sum; (void)narrow;")
    with pytest.raises(ToolError, match=r"mini\.c: does not compile(?s:.*)-Werror=conversion"):
        build_firmware(project, "mps2-an386")
    assert not (project / "build" / "mps2-an386" / "build.json").exists()


def test_many_samples_in_one_run(tmp_path: Path) -> None:
    inputs = sequences(samples=1500, steps=2)
    start = time.monotonic()
    result = run(write_mini(tmp_path / "mini"), "mps2-an386", inputs)
    check(result.outputs, inputs)
    assert time.monotonic() - start < 20


def test_unknown_machine_is_a_missing_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = build_firmware(write_mini(tmp_path / "mini"), "mps2-an386")
    command = qemu.qemu_command
    monkeypatch.setattr(qemu, "qemu_command", lambda *a: [w.replace("mps2-an386", "mps9-an1") for w in command(*a)])
    with pytest.raises(ToolError, match="does not know the machine"):
        run_qemu(build, load_board("mps2-an386"), sequences())
