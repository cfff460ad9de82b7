"""Facts about every file of assembly: it states its stack truthfully, and two assemblers make the same of it."""

import re
import subprocess

import pytest

from tests.conftest import REPO, need_tool

SOURCES = sorted(
    path
    for kind in ("dsp", "mve")
    for path in (REPO / "runtime_c" / "src").glob(f"*_{kind}.c")
    if "__asm__" in path.read_text()
)
FLAGS = ["-std=c99", "-ffreestanding", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
CORE = ["-mcpu=cortex-m55", "-mfloat-abi=hard", "-mthumb"]


def compile_to(path, folder, compiler, *flags):
    target = folder / f"{path.stem}.o"
    include = f"-I{REPO / 'runtime_c' / 'include'}"
    done = subprocess.run(
        [compiler, *FLAGS, *flags, include, "-c", str(path), "-o", str(target)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return target


def output(*command):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=True).stdout


def frame(lines: list[str]) -> int:
    """Bytes that a function's first instructions take from the stack."""
    total = 0
    for line in lines:
        words = line.split("\t")
        mnemonic, operands = words[2].strip(), words[3] if len(words) > 3 else ""
        if mnemonic.startswith("b") and not mnemonic.startswith("bic"):
            break
        registers = len([r for r in operands.strip("{} ").split(",") if r.strip()])
        if mnemonic.startswith("push") or (mnemonic.startswith("stmdb") and operands.startswith("sp!")):
            total += 4 * (registers - (0 if mnemonic.startswith("push") else 1))
        elif mnemonic.startswith("vpush"):
            first, last = re.findall(r"d(\d+)", operands)
            total += 8 * (int(last) - int(first) + 1)
        elif mnemonic.startswith("sub") and operands.startswith("sp, "):
            total += int(re.findall(r"#(\d+)", operands)[0])
    return total


def stated(built):
    """The stack every function of an object file says it uses."""
    symbols = [line.split() for line in output("arm-none-eabi-nm", built).splitlines()]
    prefix = "__td_stack_"
    return {words[2][len(prefix) :]: int(words[0], 16) for words in symbols if words[-1].startswith(prefix)}


def listing(built, name):
    """A function's instructions, without what fills up its section."""
    lines = output("arm-none-eabi-objdump", "-d", "-M", "force-thumb", "-j", f".text.{name}", built).splitlines()
    return [line for line in lines if line.count("\t") >= 2 and "\tnop" not in line]


@pytest.mark.qemu
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_stack_is_stated_truthfully(path, tmp_path):
    need_tool("arm-none-eabi-gcc")
    built = compile_to(path, tmp_path, "arm-none-eabi-gcc", *CORE, "-O2")
    assert stated(built)
    for name, size in stated(built).items():
        assert frame(listing(built, name)) == size, name


@pytest.mark.qemu
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_clang_assembles_the_same(path, tmp_path):
    need_tool("arm-none-eabi-gcc", "clang")
    built = compile_to(path, tmp_path, "arm-none-eabi-gcc", *CORE, "-O2")
    ours = {name: listing(built, name) for name in stated(built)}
    theirs = compile_to(path, tmp_path, "clang", "--target=arm-none-eabi", *CORE, "-O2")
    for name, instructions in ours.items():
        assert listing(theirs, name) == instructions, name
