"""Executed instructions per inference and per node: a TCG plugin in QEMU, or its instruction clock where that fails."""

from __future__ import annotations

import bisect
import contextlib
import dataclasses
import functools
import hashlib
import os
import shutil
import stat
import subprocess
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from tinydeploy.assets import asset_dir
from tinydeploy.errors import InternalError, Problem, ValidationError
from tinydeploy.target.disasm import Listing, disassemble
from tinydeploy.target.elf import Elf, read_elf
from tinydeploy.target.sizes import BuildResult
from tinydeploy.target.tools import tool_version
from tinydeploy.validation.cycles import CycleModel
from tinydeploy.validation.run import HotFunction, Instructions, NodeCount
from tinydeploy.validation.stream import Trailer

_EVENTS, _COUNTS = "td_events.txt", "td_counts.txt"
_PLUGIN_FLAGS = ("-std=c99", "-O2", "-shared", "-fPIC", "-fvisibility=hidden")
_HOT = 20


def _cache_folder() -> Path:
    """Where the plugin is kept: the user's cache, or a folder of his own among the temporary ones."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or "")
    with contextlib.suppress(OSError, RuntimeError):  # no home, or none that can be written
        # A relative path counts as none (XDG base directory specification).
        folder = (base if base.is_absolute() else Path.home() / ".cache") / "tinydeploy"
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    folder = Path(tempfile.gettempdir()) / f"tinydeploy-{os.getuid()}"
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        state = folder.lstat()
        # QEMU runs what lies there, so nobody else may have put it there.
        if stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid() and not state.st_mode & 0o022:
            return folder
    return Path(tempfile.mkdtemp(prefix="tinydeploy-"))


def _plugin_api(version: str) -> int:
    """The plugin interface of a QEMU: version 1 before 9.0, version 2 (counters per core) from there on."""
    words = [word for word in version.split() if word[0].isdigit()]
    return 2 if words and int(words[0].split(".")[0]) >= 9 else 1


def _option(path: Path) -> str:
    """A path inside one of QEMU's option lists, where a comma is written twice."""
    return str(path).replace(",", ",,")


@functools.cache
def plugin_path(qemu: str) -> Path | None:
    """Return the counting plugin for this QEMU, built with the host compiler and kept in the user's cache.

    None when it cannot be built or QEMU does not load it.
    """
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    source = asset_dir("boards") / "common" / "td_count_plugin.c"
    version = tool_version(qemu)
    flags = (*_PLUGIN_FLAGS, f"-DTD_PLUGIN_API={_plugin_api(version)}")
    key = hashlib.sha256(source.read_bytes())
    for text in (version, tool_version(compiler), *flags):
        key.update(f"{len(text)} {text}\n".encode())
    plugin = _cache_folder() / f"td_count_{key.hexdigest()[:24]}.so"
    if not plugin.is_file():
        with tempfile.TemporaryDirectory(prefix="tinydeploy-", dir=plugin.parent) as folder:
            made = Path(folder) / "plugin.so"
            done = subprocess.run([compiler, *flags, "-o", str(made), str(source)], capture_output=True, check=False)
            if done.returncode != 0:
                return None
            made.replace(plugin)
    # The plugin answers a probe with this code; any other answer means that QEMU did not get as far as asking it.
    probe = [qemu, "-M", "none", "-display", "none", "-plugin", f"{_option(plugin)},probe=on"]
    try:
        asked = subprocess.run(
            probe,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=30,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    return plugin if "error code 77" in asked.stderr else None


@dataclasses.dataclass(frozen=True)
class _Counts:
    """The plugin's answer: regions (calls, first, least, most); executions by (slot, first address, instructions)."""

    regions: list[tuple[int, int, int, int]]
    segments: dict[tuple[int, int, int], int]


def _read_counts(path: Path) -> _Counts:
    counts = _Counts([], {})
    for line in path.read_text(encoding="ascii").splitlines() if path.is_file() else []:
        kind, *words = line.split()
        if kind == "region":
            calls, first, least, most = (int(word) for word in words[1:])
            counts.regions.append((calls, first, least, most))
        else:
            length, slot, executions = (int(word) for word in words[1:])
            counts.segments[slot, int(words[0], 16), length] = executions
    return counts


class PluginProfiler:
    """Counts with the plugin: events at the entries of NAME_run, NAME_reset and the nodes, and where calls return."""

    method = "tcg-plugin"

    def __init__(self, build: BuildResult, plugin: Path) -> None:
        self._build = build
        self._plugin = plugin
        self._elf: Elf = read_elf(build.elf)
        self._listing: Listing = disassemble(build.elf, self._elf)
        functions = self._listing.functions
        self._code = [instruction for at in sorted(functions) for instruction in functions[at].instructions]
        self._slots: dict[str, int] = {}

    def _entry(self, function: str) -> int:
        symbol = self._elf.function(function)
        if symbol is None:
            what = f"function {function} is not in {self._build.elf.name}, so its instructions cannot be counted"
            raise InternalError(
                Problem(self._build.project.name, what, rule="nodes are functions that are never inlined")
            )
        return symbol.address

    def _region(self, function: str, number: int) -> list[tuple[int, str, int]]:
        entry = self._entry(function)
        returns = [at for caller in self._listing.functions for at in self._listing.return_addresses(caller, entry)]
        return [(entry, "E", number), *((address, "L", number) for address in returns)]

    def _events(self) -> list[tuple[int, str, int]]:
        project = self._build.project
        run = self._entry(f"{project.name}_run")
        events = self._region(f"{project.name}_run", 0)
        if project.state_bytes:
            events += self._region(f"{project.name}_reset", 1)
        for _, _, function in project.nodes:
            if function and function not in self._slots:
                self._slots[function] = len(self._slots) + 1
                events.append((self._entry(function), "S", self._slots[function]))
        # Between two nodes the instructions are NAME_run's own.
        body = self._listing.functions[run].instructions
        events += [(i.address + i.size, "S", 0) for i in body if i.is_call]
        return sorted(set(events))

    def prepare(self, folder: Path) -> list[str]:
        """Write the event table into the run's folder; return QEMU's options."""
        lines = [f"{address:x} {kind} {number}\n" for address, kind, number in self._events()]
        (folder / _EVENTS).write_text("".join(lines), encoding="ascii")
        return ["-plugin", f"{_option(self._plugin)},events={_EVENTS},out={_COUNTS}"]

    def read(self, folder: Path, trailer: Trailer) -> Instructions:
        """Return the counts of a finished run.

        Raises: ValidationError if the plugin saw another number of runs than the firmware made.
        """
        counts = _read_counts(folder / _COUNTS)
        if len(counts.regions) != 2 or counts.regions[0][0] != trailer.steps:
            seen = counts.regions[0][0] if counts.regions else 0
            what = f"the instruction counter saw {seen} of {trailer.steps} runs"
            raise ValidationError(Problem(self._build.project.name, what))
        _, first, least, most = counts.regions[0]
        executed = self._executed(counts)
        if sum(times.total() for times in executed.values()) != first:
            raise InternalError(Problem(self._build.project.name, "the instruction counts of the nodes do not add up"))
        model = CycleModel(self._code) if self._build.board.cpu.klass != "mve" else None
        cycles = {slot: model.cycles(times) for slot, times in executed.items()} if model else None
        return Instructions(
            per_inference=first,
            least=least,
            most=most,
            overhead=executed[0].total(),
            init=counts.regions[1][1],
            per_node=tuple(self._nodes(executed, cycles)),
            hot=tuple(self._hot(executed, cycles)),
            method=self.method,
            cycles=sum(sum(part.values()) for part in cycles.values()) if cycles is not None else None,
        )

    def _executed(self, counts: _Counts) -> dict[int, Counter[int]]:
        """Executions in the first inference, by slot and by address."""
        place = {instruction.address: i for i, instruction in enumerate(self._code)}
        executed: dict[int, Counter[int]] = defaultdict(Counter)
        for (slot, address, length), times in counts.segments.items():
            if address not in place:
                raise InternalError(Problem(self._build.project.name, f"executed unknown code at 0x{address:x}"))
            for instruction in self._code[place[address] : place[address] + length]:
                executed[slot][instruction.address] += times
        return executed

    def _nodes(self, executed: dict[int, Counter[int]], cycles: dict[int, dict[int, int]] | None) -> list[NodeCount]:
        counted: set[str] = set()
        nodes = []
        for name, op, function in self._build.project.nodes:
            slot = self._slots[function] if function and function not in counted else -1
            counted.add(function)
            spent = None if cycles is None else sum(cycles.get(slot, {}).values())
            nodes.append(NodeCount(name, op, function, executed.get(slot, Counter()).total(), spent))
        return nodes

    def _hot(self, executed: dict[int, Counter[int]], cycles: dict[int, dict[int, int]] | None) -> list[HotFunction]:
        order = sorted(self._listing.functions)
        own: Counter[int] = Counter()
        spent: Counter[int] = Counter()
        for slot, times in executed.items():
            for address, count in times.items():
                function = order[bisect.bisect_right(order, address) - 1]
                own[function] += count
                spent[function] += cycles[slot][address] if cycles else 0
        return [
            HotFunction(self._listing.functions[at].name, count, spent[at] if cycles else None)
            for at, count in own.most_common(_HOT)
        ]


class IcountProfiler:
    """Counts with QEMU's instruction clock: an instruction takes 1 ns of virtual time, which SysTick sees.

    Coarse (a tick is tens of instructions), for the first inference only, without nodes.
    """

    method = "icount"

    def __init__(self, build: BuildResult) -> None:
        self._build = build

    def prepare(self, folder: Path) -> list[str]:
        """Return QEMU's options."""
        return ["-icount", "shift=0"]

    def read(self, folder: Path, trailer: Trailer) -> Instructions:
        """Return the count of a finished run.

        Raises: ValidationError if the machine has no SysTick.
        """
        if trailer.ticks is None or not self._build.board.clock_hz:
            what = "instructions cannot be counted: no plugin, and no clock on this machine"
            raise ValidationError(Problem(self._build.board.name, what, hint="install gcc for the counting plugin"))
        count = round(trailer.ticks * 1e9 / self._build.board.clock_hz)
        return Instructions(count, count, count, 0, 0, (), (), self.method)


def choose_profiler(build: BuildResult, qemu: str) -> PluginProfiler | IcountProfiler:
    """Return the best way to count that this machine has."""
    plugin = plugin_path(qemu)
    return PluginProfiler(build, plugin) if plugin else IcountProfiler(build)
