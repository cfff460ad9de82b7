"""From a generated folder to a firmware image (or a host program), with its flash, RAM and stack accounted for."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tinydeploy.assets import asset_dir, render
from tinydeploy.errors import BoardError, InputError, Problem, ToolError, UsageError
from tinydeploy.target.board import Board, load_board
from tinydeploy.target.elf import read_elf
from tinydeploy.target.features import check_runs, compiler_features, cpu_flags
from tinydeploy.target.project import C_TYPES, Project, load_project
from tinydeploy.target.sizes import KERNEL_PREFIX, MODEL_PREFIX, BuildResult, account, analyse_stack, is_harness
from tinydeploy.target.tools import install_hint, require_tool, tool_version

__all__ = ["WARNINGS", "BuildResult", "build_firmware", "build_host", "render_main"]

WARNINGS = (
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wshadow",
    "-Wdouble-promotion",
    "-Wmissing-prototypes",
    "-Werror",
)
#: -fno-ipa-icf: two nodes with equal code stay two functions, so that each keeps its own instruction count.
_CODE = ("-std=c99", "-ffunction-sections", "-fdata-sections", "-ffp-contract=off", "-fno-common")
_FIRMWARE = ("-fno-ipa-icf", "-fstack-usage")
#: Start-up code is not turned into calls of memcpy and memset: they would hide the model's share of the C library.
_HARNESS = ("-fno-builtin", "-fno-tree-loop-distribute-patterns")
_OVERFLOW = re.compile(r"region `(\w+)' overflowed by (\d+) bytes")
_JOBS = 2
_LEANER = {
    "flash": "; convert --optimize size takes the least weights and tables",
    "ram": "; convert --max-ram asks for a plan with less RAM, or tells where it is needed",
}
#: A firmware that records the outputs of every node has a folder of its own, so that the one to flash stays as it is.
_TRACE_FLAGS, _TRACE_FOLDER = ("-DTD_TRACE",), "-trace"


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other processes from building in the same folder at the same time."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run(command: Sequence[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, capture_output=True, encoding="utf-8", errors="replace", check=False)


def _compile(command: Sequence[str], source: Path, cwd: Path) -> None:
    done = _run([*command, str(source)], cwd)
    if done.returncode == 0:
        return
    text = done.stderr.strip()
    if "fatal error" in text and re.search(r"(string|stdlib|stdio|math)\.h: No such file", text):
        hint = install_hint("arm-none-eabi-gcc")
        raise ToolError(Problem(command[0], "has no C library", rule=text.splitlines()[0], hint=hint))
    by_hand = "the command was: " + " ".join([*command, str(source)])
    raise ToolError(Problem(source.name, "does not compile", rule=text[:4000], hint=by_hand))


def _compile_all(compiler: str, units: Sequence[tuple[Path, str, Sequence[str]]], cwd: Path) -> None:
    """Compile (source, object relative to ``cwd``, flags) units, two at a time; the first failure is raised."""
    shutil.rmtree(cwd / "obj", ignore_errors=True)
    (cwd / "obj").mkdir(parents=True)
    with ThreadPoolExecutor(max_workers=_JOBS) as pool:
        jobs = [pool.submit(_compile, [compiler, *flags, "-c", "-o", out], source, cwd) for source, out, flags in units]
    for job in jobs:
        job.result()


def _build_folder(project: Project, variant: str) -> Path:
    return project.folder / "build" / variant


def _model_units(project: Project) -> list[tuple[Path, str]]:
    """The model's and the kernels' sources with their objects; the prefixes keep them apart from the harness's."""
    kernels = [(path, f"obj/{KERNEL_PREFIX}{path.stem}.o") for path in project.runtime_sources]
    return [(project.model_source, f"obj/{MODEL_PREFIX}{project.name}.o"), *kernels]


def render_main(project: Project, trace: bool = False) -> str:
    """Return the firmware's ``main.c`` for a project; with ``trace`` it also records the outputs of every node."""
    values = {
        "name": project.name,
        "prefix": project.name.upper(),
        "inputs": [{"c_type": C_TYPES[tensor.dtype][0]} for tensor in project.inputs],
        "outputs": [{"c_type": C_TYPES[tensor.dtype][0]} for tensor in project.outputs],
        "state": project.state_bytes > 0,
        "caller_io": project.caller_io,
        "trace": trace,
    }
    return render(asset_dir("codegen") / "main.c.j2", values)


def _port_source(board: Board) -> Path:
    for folder in (board.folder, asset_dir("boards") / "common"):
        source = folder / f"port_{board.port}.c"
        if source.is_file():
            return source
    rule = f"port_{board.port}.c in the board's folder or in boards/common"
    raise BoardError(Problem(f"board {board.name}", f"has no port {board.port!r}", rule=rule))


def _harness_sources(board: Board) -> list[Path]:
    common = asset_dir("boards") / "common"
    if board.kind == "host":
        return [_port_source(board)]
    port = _port_source(board)
    semihosting = [common / "semihosting.c"] if board.port == "semihosting" else []
    own = [path for path in sorted(board.folder.glob("*.c")) if path != port]
    return [common / "startup.c", common / "gauge.c", *semihosting, port, *own]


def _key(project: Project, board: Board, compiler: str, flags: Sequence[str], generated: Sequence[str]) -> str:
    """Hash everything the firmware depends on."""
    digest = hashlib.sha256()
    own = sorted(Path(__file__).parent.glob("*.py"))
    files = [project.model_source, *project.runtime_sources, *project.headers, *_harness_sources(board), *own]
    files += [project.folder / "manifest.json", *sorted((asset_dir("boards") / "common").glob("*.h"))]
    for path in files:
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode())
        digest.update(content)
    for text in (tool_version(compiler), *flags, *generated):
        digest.update(f"{len(text)} {text}\n".encode())
    return digest.hexdigest()


def _does_not_fit(project: Project, board: Board, over: dict[str, int]) -> BoardError:
    return BoardError(
        [
            Problem(
                f"board {board.name}",
                f"is too small for {project.name}: {memory} is {missing} bytes short",
                rule=f"{memory} holds {board.memory(memory).size} bytes",
                hint=f"`tinydeploy boards` lists larger ones{_LEANER.get(memory, '')}",
            )
            for memory, missing in over.items()
        ]
    )


def _check_fits_before_build(project: Project, board: Board) -> None:
    ram = project.arena_bytes + project.state_bytes + board.stack_bytes - board.memory("ram").size
    flash = project.weights_bytes - board.memory("flash").size
    over = {name: size for name, size in (("flash", flash), ("ram", ram)) if size > 0}
    if over:
        raise _does_not_fit(project, board, over)


def _check_traceable(project: Project) -> None:
    if "TD_AFTER_NODE(" not in project.model_source.read_text(encoding="utf-8"):
        what = "has no hooks behind its nodes, so their outputs cannot be compared"
        raise InputError(Problem(str(project.folder), what, hint="convert the model again with this version"))


def _link(command: Sequence[str], project: Project, board: Board, cwd: Path) -> None:
    done = _run(command, cwd)
    if done.returncode == 0:
        return
    over = {region.lower(): int(missing) for region, missing in _OVERFLOW.findall(done.stderr)}
    if over:
        raise _does_not_fit(project, board, over)
    if "cannot find -lc" in done.stderr or "cannot find -lgcc" in done.stderr:
        hint = install_hint("arm-none-eabi-gcc")
        raise ToolError(
            Problem(command[0], "has no C library for this core", rule=done.stderr.strip()[:400], hint=hint)
        )
    by_hand = "the command was: " + " ".join(command)
    raise ToolError(Problem(project.name, "does not link", rule=done.stderr.strip()[:4000], hint=by_hand))


def build_firmware(
    project_dir: str | Path,
    board: Board | str,
    *,
    opt: str = "-O2",
    extra_flags: Sequence[str] = (),
    trace: bool = False,
) -> BuildResult:
    """Compile and link a generated folder for a board into ``DIR/build/BOARD``; unchanged inputs are not built again.

    ``opt`` is GCC's optimisation level; ``extra_flags`` go to the model's and the kernels' files. With ``trace`` the
    firmware records the outputs of every node too; it goes to ``DIR/build/BOARD-trace``.

    Raises: InputError (not a project folder), BoardError (too small, or the core lacks a feature), ToolError (compiler
    missing or rejecting the code), UsageError (the host has no firmware).
    """
    project = load_project(project_dir)
    target = load_board(board) if isinstance(board, str) else board
    if target.kind == "host":
        what = "is this computer: there is no firmware for it"
        raise UsageError(
            Problem(f"board {target.name}", what, hint="`tinydeploy validate` compiles and runs for the host")
        )
    _check_fits_before_build(project, target)
    compiler = require_tool("arm-none-eabi-gcc")
    cpu = cpu_flags(target.cpu, compiler)
    check_runs(project.cpu, target.cpu, compiler_features(compiler, cpu))

    if trace:
        _check_traceable(project)
    with _locked(_build_folder(project, target.name + _TRACE_FOLDER * trace)):
        return _build_firmware(project, target, compiler, cpu, opt, tuple(extra_flags), trace)


def _build_firmware(
    project: Project,
    target: Board,
    compiler: str,
    cpu: Sequence[str],
    opt: str,
    extra_flags: Sequence[str],
    trace: bool,
) -> BuildResult:
    out = _build_folder(project, target.name + _TRACE_FOLDER * trace)
    common = asset_dir("boards") / "common"
    main_c = render_main(project, trace)
    link_ld = render(common / "link.ld.j2", {"board": target})
    base = [*cpu, opt, *_CODE, *_FIRMWARE, *WARNINGS, *(_TRACE_FLAGS if trace else ())]
    key = _key(project, target, compiler, [*base, *extra_flags], [main_c, link_ld])
    known = BuildResult.load(out, project, target, key)
    if known is not None:
        return known

    (out / "build.json").unlink(missing_ok=True)
    (out / "main.c").write_text(main_c, encoding="utf-8")
    (out / "link.ld").write_text(link_ld, encoding="utf-8")
    model_flags = [*base, *extra_flags, *project.include_flags]
    harness_flags = [*base, *_HARNESS, *project.include_flags, f"-I{common}"]
    model = [(path, name, model_flags) for path, name in _model_units(project)]
    harness = [(path, f"obj/{path.stem}.o", harness_flags) for path in (out / "main.c", *_harness_sources(target))]
    _compile_all(compiler, [*model, *harness], out)

    link = [compiler, *cpu, "-nostartfiles", "-static", "-Wl,--gc-sections", "-T", "link.ld"]
    ours, theirs = [name for _, name, _ in harness], [name for _, name, _ in model]
    _link([*link, "-o", "firmware.elf", *ours, *theirs, "-Wl,-Map=firmware.map"], project, target, out)
    _link([*link, "-o", "baseline.elf", *ours, _empty_model(compiler, cpu, out)], project, target, out)
    for kind in ("binary", "ihex"):
        suffix = "bin" if kind == "binary" else "hex"
        skip = ["-R", ".vectors"] if kind == "binary" and target.vectors_in != "flash" else []
        objcopy = require_tool("arm-none-eabi-objcopy")
        _link([objcopy, "-O", kind, *skip, "firmware.elf", f"firmware.{suffix}"], project, target, out)

    stack = analyse_stack(out, project.name)
    flash, ram = account(out, project, stack)
    over = ram.firmware + (stack.main or 0) - target.memory("ram").size
    if over > 0:
        raise _does_not_fit(project, target, {"ram": over})
    result = BuildResult(project, target, out, flash, ram, stack, opt, tool_version(compiler), key)
    result.save()
    return result


def _empty_model(compiler: str, cpu: Sequence[str], out: Path) -> str:
    """Assemble an object that answers every model symbol main asks for with a bare return: the baseline's model."""
    wanted: set[str] = set()
    offered: set[str] = set()
    for path in (out / "obj").glob("*.o"):
        symbols = read_elf(path).symbols
        if is_harness(path.name):
            wanted |= {symbol.name for symbol in symbols if symbol.undefined}
        else:
            offered |= {symbol.name for symbol in symbols if not symbol.undefined}
    lines = [".syntax unified", ".thumb", ".text"]
    for name in sorted(wanted & offered):
        lines += [f".global {name}", f".type {name}, %function", ".thumb_func", f"{name}:", "    bx lr"]
    source = out / "obj" / "empty.s"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    _compile([compiler, *cpu, "-c", "-o", "obj/empty.o"], source, out)
    return "obj/empty.o"


def build_host(
    project_dir: str | Path,
    *,
    sanitize: bool = False,
    opt: str = "-O2",
    cc: str = "gcc",
    extra_flags: Sequence[str] = (),
    trace: bool = False,
) -> Path:
    """Build the same main and model as a program of this computer and return its path; unchanged, it is kept.

    With ``sanitize``, AddressSanitizer and UndefinedBehaviorSanitizer stop it at the first fault. With ``trace`` it
    records the outputs of every node too.

    Raises: InputError (not a project folder), ToolError (compiler missing or rejecting the code).
    """
    project = load_project(project_dir)
    board = load_board("host")
    compiler = require_tool(cc)
    main_c = render_main(project, trace)
    checks = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
    base = [opt, *_CODE, *WARNINGS, *(checks if sanitize else []), *(_TRACE_FLAGS if trace else ())]
    key = _key(project, board, compiler, [*base, *extra_flags], [main_c])
    variant = "host" + ("-sanitize" if sanitize else "") + ("" if opt == "-O2" else opt)
    variant += ("" if cc == "gcc" else f"-{cc}") + _TRACE_FOLDER * trace
    if trace:
        _check_traceable(project)
    out = _build_folder(project, variant)
    with _locked(out):
        program, stamp = out / "firmware", out / "key.json"
        if program.is_file() and stamp.is_file() and json.loads(stamp.read_text(encoding="utf-8")).get("key") == key:
            return program
        stamp.unlink(missing_ok=True)
        (out / "main.c").write_text(main_c, encoding="utf-8")
        common = asset_dir("boards") / "common"
        flags = [*base, *project.include_flags]
        units = [(path, name, [*flags, *extra_flags]) for path, name in _model_units(project)]
        units += [
            (path, f"obj/{path.stem}.o", [*flags, f"-I{common}"]) for path in (out / "main.c", *_harness_sources(board))
        ]
        _compile_all(compiler, units, out)
        done = _run([compiler, *(checks if sanitize else []), "-o", "firmware", *[unit[1] for unit in units]], out)
        if done.returncode != 0:
            raise ToolError(Problem(project.name, f"does not link with {cc}", rule=done.stderr.strip()[:4000]))
        stamp.write_text(json.dumps({"key": key}), encoding="utf-8")
        return program
