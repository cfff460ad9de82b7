"""START HERE: the main job from a model file to verified firmware, one function a stage.

load -> optimise -> check against the model's own runtime -> quantise -> lower and plan -> emit     (convert)
build -> run -> compare with the twin and the float reference                                        (validate)
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tinydeploy.errors import BoardError, InputError, Problem, UnsupportedError, UsageError

if TYPE_CHECKING:
    from tinydeploy.emit import Project
    from tinydeploy.ir import Array, Graph
    from tinydeploy.target.board import Board
    from tinydeploy.target.project import TensorSpec
    from tinydeploy.target.toolchain import BuildResult
    from tinydeploy.validation.check import Samples

Report = Callable[[str], None]
DEFAULT_CPU = "cortex-m4"
GRAPHS_FILE = "{name}.graphs"  # in a project folder: the quantised graph and its float reference


@dataclasses.dataclass(frozen=True)
class ConvertOptions:
    """What `convert` is asked for; the names are those of the command line.

    ``calibration``: arrays by input name, leading axis = samples. ``states``: input name -> output name pairs that
    become state. ``check``: compare the imported graph with the model's own runtime. ``dump`` is given the graph as
    text after the pass ``dump_after``.
    """

    quantize: str = "int8"
    calibration: Mapping[str, Array] | None = None
    ranges: str | None = None
    cpu: str = DEFAULT_CPU
    name: str | None = None
    optimize: Literal["size", "balanced", "speed"] = "balanced"
    max_ram: int | None = None
    max_flash: int | None = None
    integer_only: bool = False
    check: bool = True
    dump_after: str | None = None
    dump: Report = print


def _quiet(text: str) -> None:
    """Report nothing."""


def _no_warnings(warnings: Iterable[str]) -> None:
    """Report nothing."""


def load(
    path: Path,
    *,
    input_shapes: Mapping[str, tuple[int, ...]] | None = None,
    states: Mapping[str, str] | None = None,
    **options: Any,
) -> Graph:
    """Read a model file into a graph as its author wrote it; ``states`` pairs inputs with the outputs that feed them.

    ``options``: those of `frontends.load`. Raises: InputError, UnsupportedError with every problem of the model.
    """
    from tinydeploy import frontends
    from tinydeploy.passes.bind_states import bind_states

    graph = frontends.load(path, input_shapes=dict(input_shapes or {}), **options)
    return bind_states(graph, dict(states)) if states else graph


def optimise(graph: Graph, dump_after: str | None = None, dump: Report = print) -> Graph:
    """Run the passes on a copy."""
    from tinydeploy import passes

    return passes.optimise(graph, dump_after=dump_after, dump=dump)


def quantise(graph: Graph, level: str, calibration: Mapping[str, Array] | None, ranges: str | None = None) -> Graph:
    """Quantise an optimised float graph; one that is quantised already keeps its own scales, integers stay.

    Raises: UsageError if calibration data is needed and missing, InputError if it cannot be used.
    """
    from tinydeploy import passes, quant
    from tinydeploy.passes.order import FINAL

    if graph.own_level() is not None:
        return graph
    return passes.optimise(quant.quantise(graph, level, calibration, ranges=ranges), stages=FINAL)


def compile_graph(
    quantised: Graph,
    reference: Graph,
    options: ConvertOptions,
    checked_against: str | None,
    macs: int | None = None,
) -> Project:
    """Lower, plan and print a quantised graph; ``reference`` is the float graph that validation compares with.

    ``macs``: multiply-accumulates of the model as it was loaded (`count_macs`), where that is known.
    Raises: UnsupportedError for nodes no kernel runs, InputError where a budget is not met.
    """
    from tinydeploy import emit, plan
    from tinydeploy.lower import island_warnings, lower_with_islands, target_for
    from tinydeploy.ops.serialise import to_bytes

    target = dataclasses.replace(
        target_for(options.cpu, optimize=options.optimize), max_ram=options.max_ram, max_flash=options.max_flash
    )
    before = quantised
    quantised, lowered = lower_with_islands(before, target)
    if options.integer_only:
        _refuse_float(quantised)
    quantised = quantised.copy()
    quantised.warnings += island_warnings(before, quantised, lowered)
    planned = plan.plan(quantised, lowered, target)
    project = emit.project(
        quantised,
        planned,
        target=target,
        name=options.name or quantised.name,
        scheme=options.quantize,
        checked_against=checked_against,
        macs=macs,
    )
    _check_flash(project, options.max_flash)
    name = project.manifest["name"]
    project.files[GRAPHS_FILE.format(name=name)] = to_bytes({"quantised": quantised, "float": reference})
    return project


def _check_flash(project: Project, budget: int | None) -> None:
    """``--max-flash``: the weights and tables must fit; names the node that takes most."""
    weights = project.manifest["weights_bytes"]
    if budget is None or weights <= budget:
        return
    largest = max(project.manifest["nodes"], key=lambda node: int(node["weights_bytes"]))
    raise BoardError(
        Problem(
            "--max-flash",
            f"weights and tables take {weights:,} bytes, {weights - budget:,} too many",
            hint=f"node {largest['name']!r} has most ({largest['weights_bytes']:,} bytes)",
        )
    )


def _refuse_float(graph: Graph) -> None:
    """``--integer-only``: every node that would run in float, as one error."""
    from tinydeploy.lower import float_nodes

    rule = "--integer-only allows integer kernels only"
    hint = "`tinydeploy ops OPERATOR` shows which forms have integer kernels; without --integer-only it runs in float32"
    nodes = float_nodes(graph) if graph.is_quantised() else graph.nodes
    problems = [Problem(node.origin or node.name, f"{node.op.name} would run in float", rule, hint) for node in nodes]
    if problems:
        raise UnsupportedError(problems)


def convert(graph: Graph, path: Path | None, options: ConvertOptions, report: Report = _quiet) -> Project:
    """The whole of `tinydeploy convert` but writing. ``path``: the file ``graph`` was loaded from, for the check.

    Raises: every TinydeployError; nothing has been written when it does.
    """
    report("optimising the graph")
    optimised = optimise(graph, options.dump_after, options.dump)
    checked_against = None
    if options.check and path is not None:
        from tinydeploy.validation.oracle import check_against

        report("comparing the imported graph with the model's own runtime")
        checked_against = check_against(path, optimised)
    else:
        reason = "no file was given for it" if options.check else "--no-check"
        optimised.warnings.append(f"the imported graph was not compared with the model's own runtime ({reason})")
    own = optimised.own_level()
    report(f"keeping the file's own types ({own})" if own else f"quantising to {options.quantize}")
    quantised = quantise(optimised, options.quantize, options.calibration, options.ranges)
    report("choosing kernels, planning memory, writing C")
    options = dataclasses.replace(options, quantize=own or options.quantize)
    return compile_graph(quantised, optimised, options, checked_against, count_macs(graph))


@dataclasses.dataclass(frozen=True)
class Folder:
    """A project folder read back: its manifest and the graphs that validation needs."""

    path: Path
    manifest: dict[str, Any]
    quantised: Graph
    reference: Graph


def open_folder(path: Path) -> Folder:
    """Read a project folder.

    Raises: InputError if it is none of ours, or was changed so that it cannot be read.
    """
    from tinydeploy.ops.serialise import from_bytes
    from tinydeploy.target.project import load_project

    project = load_project(path)
    try:
        manifest = json.loads((path / "manifest.json").read_text("utf-8"))
        graphs_file = path / GRAPHS_FILE.format(name=project.name)
        graphs = from_bytes(graphs_file.read_bytes(), str(graphs_file))
        folder = Folder(path, manifest, graphs["quantised"], graphs["float"])
        _check_same(folder, project.inputs, project.outputs)
        return folder
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            Problem(
                str(path),
                f"not a project folder of tinydeploy: {error}",
                hint="`tinydeploy convert MODEL -o DIR` writes one",
            )
        ) from error


def _check_same(folder: Folder, inputs: tuple[TensorSpec, ...], outputs: tuple[TensorSpec, ...]) -> None:
    """Raise ValueError unless manifest, quantised graph and reference tell of the same inputs and outputs."""
    for specs, ours, theirs in (
        (inputs, folder.quantised.inputs, folder.reference.inputs),
        (outputs, folder.quantised.outputs, folder.reference.outputs),
    ):
        kinds = [(name, folder.quantised.type(name)) for name in ours]
        known = [(name, kind.shape, kind.elem.value) for name, kind in kinds]
        if [(spec.name, spec.shape, spec.dtype) for spec in specs] != known or len(ours) != len(theirs):
            raise ValueError("its manifest and its graphs disagree on inputs or outputs")


def build(path: Path, board: str, report: Report = _quiet) -> BuildResult:
    """Cross-compile a project folder for a board.

    Raises: BoardError if the model does not fit, ToolError if the compiler is missing.
    """
    from tinydeploy.target.board import load_board
    from tinydeploy.target.toolchain import build_firmware

    report(f"compiling for {board}")
    return build_firmware(path, load_board(board))


def evaluation_data(
    folder: Folder,
    file: Path | None,
    *,
    data_map: Mapping[str, str] | None = None,
    input_scale: Mapping[str, tuple[float, float]] | None = None,
    samples: int | None = None,
    random_samples: int | None = None,
    report_warnings: Callable[[Iterable[str]], None] = _no_warnings,
) -> Samples:
    """What a folder is validated with: a data file's samples (the first ``samples``), or seeded random inputs.

    Raises: UsageError unless exactly one of ``file`` and ``random_samples`` is given; InputError for unusable data.
    """
    from tinydeploy.data import load_data
    from tinydeploy.validation import check

    if (file is None) == (random_samples is None):
        raise UsageError(Problem(str(folder.path), "what should it be run on?", "either --data FILE or --random N"))
    graph = folder.quantised
    if file is None:
        assert random_samples is not None
        return check.prepare(graph, check.random_samples(graph, random_samples), None)
    data = load_data(file, graph, data_map=dict(data_map or {}), input_scale=dict(input_scale or {}))
    inputs = {name: array[:samples] for name, array in data.x.items()}
    report_warnings(data.warnings)
    return check.prepare(graph, inputs, None if data.y is None else data.y[:samples])


def validate(
    folder: Folder,
    board_name: str,
    samples: Samples,
    *,
    metric: str | None = None,
    profile: bool = True,
    per_layer: bool = False,
    sanitize: bool = False,
    opt: str = "-O2",
    timeout: float = 600,
    report: Report = _quiet,
) -> dict[str, Any]:
    """Build and run a folder on a board and compare; returns the document of `validate --json` in CLI.md.

    ``sanitize``, ``opt``: compiler settings (sanitizers on the host only). ``timeout``: seconds for the whole run.

    Raises: UsageError (sanitizers elsewhere), BoardError, ToolError; ValidationError if the run hangs, faults or ends
    early. A result that is not bit-exact is returned, not raised.
    """
    from tinydeploy.target.board import load_board
    from tinydeploy.target.toolchain import build_firmware, build_host
    from tinydeploy.validation import check
    from tinydeploy.validation.host import run_host
    from tinydeploy.validation.qemu import run_qemu

    board = load_board(board_name)
    if sanitize and board.kind != "host":
        raise UsageError(Problem(f"--sanitize --board {board.name}", "sanitizers run on the host", "--board host"))
    report(f"compiling for {board.name}")
    if board.kind == "host":
        run = run_host(
            build_host(folder.path, sanitize=sanitize, opt=opt), folder.manifest, samples.fed, timeout=timeout
        )
    else:
        built = build_firmware(folder.path, board, opt=opt)
        report(f"running {samples.count:,} samples on {board.name}")
        run = run_qemu(built, board, samples.fed, timeout=timeout, profile=profile)
    report("comparing with the integer twin and the float reference")
    result = {
        "board": board.name,
        "cpu": board.cpu.name,
        **check.figures(folder.quantised, folder.reference, samples, run.outputs, metric),
        "instructions": run.instructions,
        "cycles_estimated": run.cycles_estimated,
        "stack_bytes": run.stack_bytes,
        "arena_bytes": folder.manifest["arena_bytes"],
    }
    _add_trace(
        result, folder, board, samples, per_layer, {"sanitize": sanitize, "opt": opt, "timeout": timeout}, report
    )
    return result


def _add_trace(
    result: dict[str, Any],
    folder: Folder,
    board: Board,
    samples: Samples,
    per_layer: bool,
    settings: dict[str, Any],
    report: Report,
) -> None:
    """What only a run that records every node can tell: the first node that differs, and errors of float nodes inside
    the model. Without ``per_layer`` it is made for the latter only, where there are any and the board has room.
    """
    from tinydeploy.validation import check, trace

    computing = {node["name"] for node in folder.manifest["nodes"] if node.get("function")}
    islands = [island for island in result["float_islands"] if island["node"] in computing]
    result["float_islands"] = islands
    hidden = [island for island in islands if island["max_rel_error"] is None]
    if not (per_layer or hidden):
        return
    report(f"comparing every node on {board.name} with the twin")
    first = result["first_mismatch"]
    place = None if first is None else first["index"]
    try:
        traced = trace.run(folder.path, folder.manifest, folder.quantised, board, samples, differing=place, **settings)
    except (BoardError, InputError):
        if per_layer:
            raise
        return
    for island in hidden:
        island["max_rel_error"] = traced.nodes[island["node"]].max_rel_error
    if per_layer:
        result["per_layer"] = traced.annotate(check.per_layer(folder.quantised, folder.reference, samples))
        result["first_differing_node"] = traced.first_differing
        result["traced_samples"] = list(traced.samples)


def count_macs(graph: Graph) -> int:
    """Multiply-accumulates of one run."""
    from tinydeploy.ops._op import Signature

    return sum(node.op.macs(Signature.of(graph, node)) for node in graph.nodes)


def inspect(graph: Graph) -> dict[str, Any]:
    """Optimise a loaded graph and describe it, with what was found dead in it: channels that are constant or unread."""
    from tinydeploy import passes
    from tinydeploy.passes.order import FINAL, SHAPING

    shaped = passes.optimise(graph, stages=SHAPING)
    after = passes.optimise(shaped, stages=FINAL)
    document, before = describe(after), describe(shaped)
    document["dead_channels"] = {
        "channels": before["channels"],
        "removed": before["channels"] - document["channels"],
        "macs_before": before["macs"],
        "parameters_before": before["parameters"],
    }
    return document


def describe(graph: Graph) -> dict[str, Any]:
    """What `inspect` shows of a graph: types, nodes with MACs and parameters."""
    from tinydeploy.ops._op import Signature

    nodes = []
    for node in graph.nodes:
        constants = [
            graph.values[name] for name in node.inputs if name is not None and graph.values[name].data is not None
        ]
        nodes.append(
            {
                "name": node.name,
                "op": node.op.name,
                "output": str(graph.type(node.outputs[0])),
                "macs": node.op.macs(Signature.of(graph, node)),
                "parameters": sum(value.type.size for value in constants),
            }
        )
    return {
        "name": graph.name,
        "format": graph.source.format if graph.source else None,
        "macs": count_macs(graph),
        "channels": sum(sum(graph.type(name).shape[-1:]) for node in graph.nodes for name in node.outputs),
        "parameters": sum(value.type.size for value in graph.values.values() if value.data is not None),
        "inputs": [{"name": name, "type": str(graph.type(name))} for name in graph.inputs],
        "outputs": [{"name": name, "type": str(graph.type(name))} for name in graph.outputs],
        "states": [{"name": state.name, "type": str(graph.type(state.read))} for state in graph.states],
        "nodes": nodes,
        "warnings": graph.warnings,
    }
