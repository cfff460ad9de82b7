"""Map files, stack files and manifests are read as the tools write them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.emulated.mini_project import write_mini
from tinydeploy.errors import InputError, InternalError
from tinydeploy.target.disasm import Instruction
from tinydeploy.target.elf import read_elf
from tinydeploy.target.mapfile import read_map
from tinydeploy.target.project import load_project
from tinydeploy.target.stack import count_registers, read_su
from tinydeploy.target.toolchain import render_main
from tinydeploy.validation.cycles import CycleModel

MAP = """
Discarded input sections

 .text          0x00000000      0x123 obj/model-a.o

Linker script and memory map

.vectors        0x00000000       0x40
 *(.vectors)
 .vectors       0x00000000       0x40 obj/startup.o

.text           0x00000040      0x4ac
 *(.text .text.*)
 .text.run      0x00000040       0x1a obj/main.o
 .text.a_function_with_a_long_name
                0x0000005c        0xc obj/model-a.o
                0x0000005c                a_function_with_a_long_name
 *fill*         0x00000068        0x8
 .rodata.w      0x00000070      0x12c obj/model-a.o
 .text.memcpy   0x0000019c       0x20 /usr/lib/a b/libc.a(memcpy.o)
 .rodata.none   0x000001bc        0x0 obj/model-a.o

.bss            0x20000000       0x30
 .bss.arena     0x20000000       0x30 obj/main.o
"""


def test_map_file(tmp_path: Path) -> None:
    (tmp_path / "m").write_text(MAP)
    placed = [(p.output, p.section, p.object, p.size) for p in read_map(tmp_path / "m")]
    assert placed == [
        (".vectors", ".vectors", "obj/startup.o", 0x40),
        (".text", ".text.run", "obj/main.o", 0x1A),
        (".text", ".text.a_function_with_a_long_name", "obj/model-a.o", 0xC),
        (".text", ".rodata.w", "obj/model-a.o", 0x12C),
        (".text", ".text.memcpy", "/usr/lib/a b/libc.a(memcpy.o)", 0x20),
        (".bss", ".bss.arena", "obj/main.o", 0x30),
    ]


def test_stack_files(tmp_path: Path) -> None:
    (tmp_path / "a.su").write_text("a.c:3:5:f\t24\tstatic\na.c:9:5:g\t16\tdynamic,bounded\na.c:12:1:h\t8\tdynamic\n")
    (tmp_path / "b.su").write_text("b.c:3:5:f\t40\tstatic\n")
    assert read_su([tmp_path / "a.su", tmp_path / "b.su"]) == {"f": 40, "g": 16, "h": -1}


def test_register_lists() -> None:
    assert count_registers("r4") == 1
    assert count_registers("r0, r4, r5-r7, lr") == 6
    assert count_registers("d8-d15") == 8


def test_files_that_are_no_elf(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\x7fELF\x02\x01" + bytes(60))
    with pytest.raises(InternalError, match="32-bit"):
        read_elf(tmp_path / "x")


def test_cost_model() -> None:
    lines = [
        ("ldr", "r0, [r1, #0]"),  # 2
        ("ldr.w", "r2, [r1, #4]"),  # 1: behind a load
        ("ldmia.w", "r1!, {r3, r4, r5}"),  # 4
        ("ldrd", "r6, r7, [r1]"),  # 3
        ("smlad", "r0, r1, r2, r3"),  # 1
        ("str", "r0, [r2, #0]"),  # 1
        ("sdiv", "r0, r0, r1"),  # 6
        ("bne.n", "0 <f>"),  # taken 9 times, passed once: 28
        ("pop", "{r4, pc}"),  # 6
    ]
    code = [Instruction(2 * i, 2, name, operands, None) for i, (name, operands) in enumerate(lines)]
    executed = {2 * i: 1 if name == "pop" else 10 for i, (name, _) in enumerate(lines)}
    cycles = CycleModel(code).cycles(executed)
    assert [cycles[2 * i] for i in range(len(lines))] == [20, 10, 40, 30, 10, 10, 60, 28, 6]


def test_project_folders(tmp_path: Path) -> None:
    project = load_project(write_mini(tmp_path / "mini"))
    assert (project.name, project.state_bytes, project.inputs[1].step_bytes) == ("mini", 32, 6)
    assert "mini_reset(&ctx)" in render_main(project)
    with pytest.raises(InputError, match=r"holds no manifest\.json"):
        load_project(tmp_path)
    path = tmp_path / "mini" / "manifest.json"
    whole = json.loads(path.read_text())
    for key, wrong in [
        ("name", "a b"),
        ("name", "x;y"),
        ("inputs", 3),
        ("inputs", [{"name": "x", "shape": [0], "dtype": "int8"}]),
        ("outputs", [{"name": "x", "shape": [1], "dtype": "float64"}]),
        ("arena_bytes", None),
        ("nodes", None),
    ]:
        path.write_text(json.dumps({**whole, key: wrong}))
        with pytest.raises(InputError, match="is not a manifest"):
            load_project(tmp_path / "mini")
    path.write_text("[1]")
    with pytest.raises(InputError, match="is not a manifest"):
        load_project(tmp_path / "mini")
    path.write_text(json.dumps(whole))
    (tmp_path / "mini" / "mini.h").unlink()
    with pytest.raises(InputError, match=r"lacks mini\.h"):
        load_project(tmp_path / "mini")
