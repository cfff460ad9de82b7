"""The C project folder: its files as text, its manifest, and how it is written."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tinydeploy.assets import asset_dir, render
from tinydeploy.emit.cfile import Printer
from tinydeploy.emit.names import comment, model_name
from tinydeploy.emit.runtime import runtime_files
from tinydeploy.emit.write import GENERATOR, write_folder
from tinydeploy.ir import Graph
from tinydeploy.lower._contract import Lowered, Target
from tinydeploy.plan import Plan
from tinydeploy.version import __version__

_SCHEME = re.compile(r"w(?:\d+|t)a\d+(?:_sp24)?")


@dataclasses.dataclass
class Project:
    """A generated folder in memory. ``files``: content by relative path, "/" between folders; without the manifest."""

    name: str
    files: dict[str, str | bytes]
    manifest: dict[str, Any]

    def __repr__(self) -> str:
        facts = ", ".join(f"{key}={self.manifest.get(key)!r}" for key in ("cpu", "arena_bytes", "weights_bytes"))
        return f"Project({self.name!r}, {facts}, {len(self.files)} files)"

    def content(self) -> dict[str, bytes]:
        """Every file as it will be written, manifest.json included; that lists the others, so that they can be told
        from a user's own.
        """
        names = sorted([*self.files, "manifest.json"])
        manifest = json.dumps({**self.manifest, "files": names}, indent=2, allow_nan=False) + "\n"
        texts = {**self.files, "manifest.json": manifest}
        return {name: text.encode() if isinstance(text, str) else text for name, text in sorted(texts.items())}

    def write(self, path: str | Path) -> None:
        """Write the folder whole or not at all (see `write_folder`).

        Raises: UsageError if ``path`` holds something that is not ours, InputError if it cannot be written.
        """
        write_folder(Path(path), self.content())


def project(
    graph: Graph,
    plan: Plan,
    *,
    target: Target,
    name: str,
    scheme: str = "int8",
    requantize: str = "exact",
    checked_against: dict[str, str] | str | None = None,
    macs: int | None = None,
    warnings: Sequence[str] = (),
    runtime: Path | None = None,
) -> Project:
    """Print the C project of a planned graph.

    ``name``: what the user calls the model; becomes a C identifier. ``scheme``, ``requantize``, ``checked_against``:
    facts for the manifest. ``macs``: multiply-accumulates before optimisation, if they differ. ``runtime``: the folder
    of the kernels, default ours.

    Output is the same in every byte for the same arguments. Inputs and outputs lie in the arena; buffers of the caller
    would be further regions in the plan and parameters of NAME_run.
    """
    name = model_name(name)
    printer = Printer(graph, plan, name, target)
    total = sum(printer.macs.values())
    context = printer.context()
    facts = _facts(graph, plan, target, scheme, context["weights_bytes"], total)
    context["facts"] = [comment(line, 110) for line in facts]
    templates = {f"{name}.h": "model.h.j2", f"{name}.c": "model.c.j2"}
    templates.update({text: f"{text}.j2" for text in ("CMakeLists.txt", "README.md")})
    codegen = asset_dir("codegen")
    files: dict[str, str | bytes] = {text: render(codegen / source, context) for text, source in templates.items()}
    files.update(runtime_files(runtime or asset_dir("runtime_c"), context["headers"], context["sources"]))
    source = graph.source
    manifest: dict[str, Any] = {
        "generator": GENERATOR,
        "version": __version__,
        "name": name,
        "source": None if source is None else dataclasses.asdict(source),
        "checked_against": checked_against,
        "scheme": scheme,
        "cpu": target.cpu,
        "cpu_class": target.cpu_class,
        "optimize": target.optimize,
        "requantize": requantize,
        "inputs": [_tensor(graph, value, entry) for value, entry in zip(graph.inputs, printer.inputs, strict=True)],
        "outputs": [_tensor(graph, value, entry) for value, entry in zip(graph.outputs, printer.outputs, strict=True)],
        "io_buffers": "arena",
        "state_bytes": plan.state_bytes,
        "arena_bytes": context["arena_bytes"],
        "arena_lower_bound_bytes": plan.lower_bound_bytes,
        "weights_bytes": context["weights_bytes"],
        "macs": total if macs is None else macs,
        "macs_after_optimisation": total,
        "stack_bytes": None,
        "stack_bytes_note": "known once compiled: build/BOARD/build.json",
        "nodes": [_node(graph, plan, low, printer) for low in plan.lowered],
        "pools": [{"name": "arena", "bytes": context["arena_bytes"]}],
        "notes": list(plan.notes),
        "warnings": [*graph.warnings, *warnings],
    }
    return Project(name, files, manifest)


def _facts(graph: Graph, plan: Plan, target: Target, scheme: str, weights: int, macs: int) -> list[str]:
    """Lines for whoever opens the header first."""
    source = graph.source
    state = f", {plan.state_bytes} bytes state" if plan.state_bytes else ""
    rest = f", besides the stack; most in use at node '{plan.peak}'" if plan.peak else ", besides the stack"
    return [
        *([f"source : {Path(source.file).name}, sha256 {source.sha256[:16]}..."] if source is not None else []),
        f"level  : {scheme}, for {target.cpu} ({target.cpu_class} kernels), optimised for {target.optimize}",
        f"flash  : {weights} bytes of weights and tables, besides the code",
        f"RAM    : {plan.arena_bytes} bytes arena (lower bound {plan.lower_bound_bytes}){state}{rest}",
        f"work   : {macs} MAC a run, {len(plan.lowered)} nodes",
    ]


def _tensor(graph: Graph, value: str, entry: dict[str, Any]) -> dict[str, Any]:
    kind = graph.type(value)
    return {
        "name": value,
        "shape": list(kind.shape),
        "dtype": kind.elem.value,
        "scale": None if kind.quant is None else kind.scale,
        "zero_point": None if kind.quant is None else kind.zero_point,
        "c_name": entry["c_name"],
        "function": entry["function"],
    }


def _node(graph: Graph, plan: Plan, low: Lowered, printer: Printer) -> dict[str, Any]:
    match = _SCHEME.search(low.offer.kernel)
    cost = low.offer.cost
    return {
        "name": low.node.name,
        "op": low.node.op.name,
        "scheme": match.group(0) if match else graph.type(low.node.outputs[0]).elem.value,
        "kernel": low.offer.kernel,
        "function": printer.functions.get(low.node.name),
        "macs": printer.macs[low.node.name],
        "weights_bytes": low.offer.weights_bytes,
        "arena_live_bytes": plan.live_bytes[low.node.name],
        "estimated": {"instructions": cost.instructions, "cycles": cost.cycles},
        "note": low.offer.note,
    }
