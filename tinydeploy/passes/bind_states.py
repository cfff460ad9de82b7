"""Makes pairs of an input and an output into states: what one run writes the next one reads."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tinydeploy.errors import Problem, UsageError
from tinydeploy.ir import Graph, State


def bind_states(graph: Graph, pairs: Mapping[str, str]) -> Graph:
    """A copy of ``graph`` in which each input named in ``pairs`` is a state that its output is the next content of.

    Both lose their place among the inputs and outputs. A state begins as real zeros.
    Raises: UsageError with every pair that names no input or output, differs in type, or is used twice.
    """
    result = graph.copy()
    problems = []
    for read, write in pairs.items():
        where = f"--state {read}={write}"
        if read not in graph.inputs:
            problems.append(Problem(where, f"no input {read!r}", hint=f"the inputs are {', '.join(graph.inputs)}"))
        elif write not in graph.outputs:
            problems.append(Problem(where, f"no output {write!r}", hint=f"the outputs are {', '.join(graph.outputs)}"))
        elif list(pairs.values()).count(write) > 1:
            problems.append(Problem(where, f"output {write!r} is given twice", "one output a state"))
        elif graph.type(read) != graph.type(write):
            what = f"the input is {graph.type(read)}, the output {graph.type(write)}"
            problems.append(Problem(where, what, "both have the same shape, element type and scale"))
        else:
            kind = graph.type(read)
            start = 0 if kind.quant is None else kind.zero_point
            result.states.append(State(read, read, write, np.full(kind.shape, start, kind.elem.dtype)))
            result.inputs.remove(read)
            result.outputs.remove(write)
    if problems:
        raise UsageError(problems)
    return result
