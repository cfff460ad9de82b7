"""Board files are read strictly; every fault is listed, near names are offered."""

from __future__ import annotations

from pathlib import Path

import pytest

from tinydeploy.errors import BoardError, UsageError
from tinydeploy.target.board import all_boards, board_names, load_board, write_template
from tinydeploy.target.cpu import CPUS, get_cpu

GOOD = """
cpu = "cortex-m4f"
kind = "qemu"
clock_hz = 25_000_000
[memory.flash]
origin = 0
size = 0x1000
[memory.ram]
origin = 0x20000000
size = 0x1000
[run]
qemu_machine = "mps2-an386"
"""


def write(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "board.toml").write_text(text)
    return folder


def test_the_boards_that_come_with_us() -> None:
    boards = {board.name: board for board in all_boards()}
    assert set(boards) >= {
        "host",
        "microbit",
        "microbit-large",
        "mps2-an385",
        "mps2-an386",
        "mps2-an500",
        "mps2-an505",
        "mps3-an547",
    }
    assert boards["microbit"].ram_bytes == 16 * 1024
    assert boards["microbit-large"].ram_bytes == 4 * 1024 * 1024
    assert boards["host"].flash_bytes is None
    cpus = {board.cpu.name for board in boards.values()}
    assert cpus >= {"cortex-m0", "cortex-m3", "cortex-m4f", "cortex-m7", "cortex-m33", "cortex-m55", "host"}
    for board in boards.values():
        entry = board.as_json()
        assert set(entry) >= {"name", "cpu", "kind", "flash_bytes", "ram_bytes", "clock_hz"}
        assert board.description


def test_a_path_to_a_folder_or_file(tmp_path: Path) -> None:
    folder = write(tmp_path / "mine", GOOD)
    assert load_board(folder) == load_board(folder / "board.toml")
    board = load_board(str(folder))
    assert (board.name, board.cpu.name, board.memory("ram").origin) == ("mine", "cortex-m4f", 0x20000000)
    with pytest.raises(KeyError):
        board.memory("itcm")


def test_unknown_board_offers_near_names() -> None:
    with pytest.raises(UsageError, match=r"board 'mps2-an368'(?s:.*)did you mean mps2-an386"):
        load_board("mps2-an368")
    with pytest.raises(UsageError, match="one of: host microbit"):
        load_board("")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("size = 0x1000", "size = -1"), "memory.flash: size must be an integer"),
        (("size = 0x1000", 'size = "4K"'), "memory.flash: size must be an integer"),
        (("size = 0x1000", "size = true"), "memory.flash: size must be an integer"),
        (("origin = 0x20000000", "origin = 0x800"), "memory.flash and memory.ram overlap"),
        (("origin = 0x20000000", "origin = 0xffffff00"), "ends beyond the 32-bit"),
        (("[memory.ram]", "[memory.sram]"), "memory.ram is missing"),
        (('cpu = "cortex-m4f"', 'cpu = "cortex-m9"'), "cpu is 'cortex-m9'"),
        (('cpu = "cortex-m4f"', ""), "cpu is missing"),
        (('cpu = "cortex-m4f"', 'cpu = "host"'), "must both be 'host' or neither"),
        (('kind = "qemu"', 'kind = "fast"'), "kind is 'fast'"),
        (("clock_hz = 25_000_000", "clock_hz = 1e6"), "clock_hz must be an integer"),
        (('qemu_machine = "mps2-an386"', 'qemu_args = "x"'), "qemu_args must be a list of texts"),
        (('qemu_machine = "mps2-an386"', ""), "run.qemu_machine is missing"),
        (("[run]", "[runs]"), "unknown key 'runs'"),
        (('kind = "qemu"', 'kind = "qemu"\nvectors_in = "rom"'), "vectors_in names no memory"),
        (('kind = "qemu"', 'kind = "qemu'), "cannot be read as TOML"),
    ],
)
def test_faults_are_named(tmp_path: Path, change: tuple[str, str], complaint: str) -> None:
    assert change[0] in GOOD
    with pytest.raises(BoardError, match=r"board\.toml") as caught:
        load_board(write(tmp_path / "mine", GOOD.replace(*change, 1)))
    assert complaint in str(caught.value)


def test_all_faults_at_once(tmp_path: Path) -> None:
    with pytest.raises(BoardError) as caught:
        load_board(write(tmp_path / "My Board", 'kind = "x"\nspeed = 1\n'))
    assert len(caught.value.problems) >= 4


def test_template_is_a_board(tmp_path: Path) -> None:
    path = write_template(tmp_path / "new-board")
    assert load_board(path).kind == "real"
    with pytest.raises(UsageError, match="there already"):
        write_template(tmp_path / "new-board")
    with pytest.raises(UsageError, match="does not serve"):
        write_template(tmp_path / "New Board")
    with pytest.raises(UsageError, match="there already"):
        write_template(tmp_path / board_names()[0])


def test_cpus() -> None:
    assert {cpu.klass for cpu in CPUS.values()} == {"plain", "dsp", "mve"}
    assert "-mfloat-abi=soft" in get_cpu("cortex-m4").flags
    # Soft floats would switch MVE off without a word.
    assert all("-mfloat-abi=hard" in cpu.flags for cpu in CPUS.values() if cpu.klass == "mve")
    with pytest.raises(UsageError, match="did you mean cortex-m4"):
        get_cpu("cortexm4")
