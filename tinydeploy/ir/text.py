"""Prints a graph as text that can be read and compared: one line a value or node, in order, no addresses."""

from __future__ import annotations

import hashlib

from tinydeploy.ir.graph import Graph


def to_text(graph: Graph) -> str:
    """Return the graph as text; constants are shown by a hash of their bytes."""
    lines = [f"graph {graph.name}"]
    lines += [f"  input  {name}: {graph.type(name)}" for name in graph.inputs]
    lines += [f"  state  {s.name}: {graph.type(s.read)}  {s.read} <- {s.write}" for s in graph.states]
    for name, value in graph.values.items():
        if value.data is not None:
            digest = hashlib.sha256(value.data.tobytes()).hexdigest()[:12]
            lines.append(f"  const  {name}: {value.type} #{digest}")
    for node in graph.nodes:
        attributes = ", ".join(f"{key}={value}" for key, value in node.op.attributes().items())
        results = ", ".join(f"{name}: {graph.type(name)}" for name in node.outputs)
        operands = ", ".join("-" if name is None else name for name in node.inputs)
        lines.append(f"  {results} = {node.op.name}({operands}) {{{attributes}}}  # {node.name}")
    lines += [f"  output {name}" for name in graph.outputs]
    return "\n".join(lines) + "\n"
