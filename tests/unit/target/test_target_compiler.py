"""What the compiler is asked and what it answers: features of every CPU, proven stack."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import need_tool
from tests.emulated.mini_project import write_mini
from tinydeploy.errors import BoardError, ToolError
from tinydeploy.target.cpu import CPUS
from tinydeploy.target.features import check_runs, compiler_features, cpu_flags
from tinydeploy.target.sizes import analyse_stack
from tinydeploy.target.toolchain import build_firmware

ARM = [cpu for cpu in CPUS.values() if cpu.name != "host"]


def compiler() -> str:
    need_tool("arm-none-eabi-gcc", "arm-none-eabi-objdump")
    return shutil.which("arm-none-eabi-gcc") or ""


@pytest.mark.parametrize("cpu", ARM, ids=lambda cpu: cpu.name)
def test_every_cpu_has_what_its_class_needs(cpu) -> None:
    gcc = compiler()
    has = compiler_features(gcc, cpu_flags(cpu, gcc))
    assert set(cpu.needs) <= has
    assert ("mve" in has) == (cpu.klass == "mve")
    assert ("dsp" in has) == (cpu.klass != "plain")
    check_runs("cortex-m0", cpu, has)


def test_soft_floats_switch_mve_off() -> None:
    has = compiler_features(compiler(), ("-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=soft"))
    assert "mve" not in has
    with pytest.raises(BoardError, match="lacks fpu, mve, mve_fp"):
        check_runs("cortex-m55", CPUS["cortex-m55"], has)


def test_flags_that_no_compiler_takes() -> None:
    with pytest.raises(ToolError, match="does not take these options: -mcpu=cortex-m99"):
        compiler_features(compiler(), ("-mcpu=cortex-m99",))


ASSEMBLY = """
__asm__(".syntax unified\\n.text\\n.global td_asm\\n.type td_asm, %function\\n.thumb_func\\n"
        "td_asm:\\n push {r4-r7, lr}\\n sub sp, #40\\n"
        "td_inner_label:\\n add sp, #40\\n pop {r4-r7, pc}\\n.size td_asm, . - td_asm\\nDECLARED");
"""


@pytest.mark.parametrize(
    ("kernel", "call", "bound", "reason"),
    [
        # Declared use counts, even where the code shows another.
        (
            ASSEMBLY.replace("DECLARED", ".global __td_stack_td_asm\\n.set __td_stack_td_asm, 64\\n"),
            "td_asm();",
            64,
            "",
        ),
        # A computed jump into an unrolled loop is no call where the use is declared.
        (
            ASSEMBLY.replace("add sp, #40\\n", "add sp, #40\\n bx r3\\n").replace(
                "DECLARED", ".global __td_stack_td_asm\\n.set __td_stack_td_asm, 64\\n"
            ),
            "td_asm();",
            64,
            "",
        ),
        (
            ASSEMBLY.replace("add sp, #40\\n", "add sp, #40\\n bx r3\\n").replace("DECLARED", ""),
            "td_asm();",
            None,
            "calls through a pointer",
        ),
        # Undeclared: pushes and subtractions are added up; a label inside does not end the function.
        (ASSEMBLY.replace("DECLARED", ""), "td_asm();", 60, ""),
        ("void (*td_asm_pointer)(void);\n", "td_asm_pointer();", None, "calls through a pointer"),
        (
            "int32_t td_asm_deep(int32_t n);\nint32_t td_asm_deep(int32_t n) "
            "{ return n < 1 ? 1 : n * td_asm_deep(n - 1) + td_asm_deep(n - 2); }\n",
            "sum += td_asm_deep(3);",
            None,
            "recursive",
        ),
    ],
)
def test_stack_bound(tmp_path: Path, kernel: str, call: str, bound: int | None, reason: str) -> None:
    compiler()
    project = write_mini(tmp_path / "mini", extra=call)
    header = project / "runtime" / "include" / "td_mini.h"
    prototypes = "void td_asm(void);\nextern void (*td_asm_pointer)(void);\nint32_t td_asm_deep(int32_t n);\n"
    header.write_text(header.read_text().replace("#endif", prototypes + "#endif"))
    (project / "runtime" / "src" / "td_asm.c").write_text('#include "td_mini.h"\n' + kernel)
    plain = build_firmware(write_mini(tmp_path / "plain"), "microbit")
    build = build_firmware(project, "microbit")
    use = analyse_stack(build.folder, "mini")
    assert use == build.stack
    if bound is None:
        assert use.run is None
        assert reason in use.reasons[0]
        assert build.as_json()["ram"]["stack_bound"] is None
    else:
        # mini_node1's own frame lies above; node 0 with its array may still be the deeper of the two.
        frame = int(next(line.split("\t")[1] for line in su_lines(build.folder) if ":mini_node1\t" in line))
        run = int(next(line.split("\t")[1] for line in su_lines(build.folder) if ":mini_run\t" in line))
        assert use.run == max(plain.stack.run or 0, run + frame + bound)


def su_lines(folder: Path) -> list[str]:
    return (folder / "obj" / "model-mini.su").read_text().splitlines()


def test_map_and_image_agree(tmp_path: Path) -> None:
    compiler()
    build = build_firmware(write_mini(tmp_path / "mini"), "mps2-an386")
    size = subprocess.run(["arm-none-eabi-size", build.elf], capture_output=True, text=True, check=True).stdout
    text, data = (int(word) for word in size.splitlines()[1].split()[:2])
    assert build.flash.total == text + data
    assert build.bin.stat().st_size == pytest.approx(build.flash.total, abs=8)
