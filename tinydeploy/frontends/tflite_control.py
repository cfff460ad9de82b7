"""TFLite operators that run other subgraphs, and variables: all of it is settled while reading.

Loops are written out as often as they run, a condition known now takes one branch, and one that is computed takes both
and selects. Variables become states of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tinydeploy.frontends.tflite_call import Call
from tinydeploy.frontends.tflite_importer import Variable
from tinydeploy.ir import Array, State

MAX_TRIPS = 2048


def _operands(call: Call, first: int = 0) -> list[str | Variable]:
    if any(i < 0 for i in call.tensors):
        raise call.damaged("has an absent input")
    return [call.importer.operand(i) for i in call.tensors[first:]]


def _bind(call: Call, results: Sequence[str | Variable]) -> None:
    if len(results) != len(call.results):
        raise call.damaged(f"has {len(call.results)} outputs and its subgraph {len(results)}")
    for index, result in zip(call.results, results, strict=True):
        call.importer.bind(index, result)


def _call(call: Call) -> None:
    _bind(call, call.importer.inline(int(call.option("subgraph")), _operands(call)))


def _composite(call: Call) -> None:
    _bind(call, call.importer.inline(int(call.option("decomposition_subgraph")), _operands(call)))


def _call_once(call: Call) -> None:
    if call.importer.inline(int(call.option("init_subgraph")), [], initialising=True):
        raise call.damaged("its subgraph has outputs")


def _truth(call: Call, data: Array | None) -> bool | None:
    """A condition that is known now; None if it is computed."""
    if data is None:
        return None
    if data.size != 1 or data.dtype != np.bool_:
        raise call.damaged(f"has the condition {data.dtype}{list(data.shape)}")
    return bool(data.ravel()[0])


def _while(call: Call) -> None:
    condition, body = int(call.option("cond_subgraph")), int(call.option("body_subgraph"))
    operands = _operands(call)
    for _ in range(MAX_TRIPS):
        results = call.importer.inline(condition, operands)
        if len(results) != 1 or isinstance(results[0], Variable):
            raise call.damaged(f"its condition has {len(results)} results")
        goes_on = _truth(call, call.constant(results[0]))
        if goes_on is None:
            hint = "convert the model with a fixed number of steps (for recurrent layers: a fixed sequence length)"
            raise call.refuse("repeats as often as the data say", "the number of repetitions is known now", hint)
        if not goes_on:
            _bind(call, operands)
            return
        operands = call.importer.inline(body, operands)
    raise call.refuse("repeats too often", f"at most {MAX_TRIPS} repetitions, since each is written out")


def _if(call: Call) -> None:
    branches = int(call.option("then_subgraph")), int(call.option("else_subgraph"))
    condition, operands = call.input(0), _operands(call, 1)
    truth = _truth(call, call.constant(condition))
    if truth is not None:
        _bind(call, call.importer.inline(branches[0 if truth else 1], operands))
        return
    if call.type(condition).size != 1:
        raise call.damaged(f"has the condition {call.type(condition)}")
    call.warn(f"{call.origin}: both branches are computed, then one result is taken")
    before = _contents(call)
    then = call.importer.inline(branches[0], operands)
    after = _contents(call)
    if set(after) != set(before):
        raise call.refuse("uses a variable for the first time inside a branch", "variables are read or set before it")
    for name, write in before.items():
        _state(call, name).write = write
    otherwise = call.importer.inline(branches[1], operands)
    if len(then) != len(otherwise) or set(_contents(call)) != set(before):
        raise call.refuse("has branches that differ in outputs or variables", "both branches have the same")
    for name, write in _contents(call).items():
        _state(call, name).write = str(_select(call, condition, after[name], write))
    _bind(call, [_select(call, condition, a, b) for a, b in zip(then, otherwise, strict=True)])


def _contents(call: Call) -> dict[str, str]:
    """What each variable holds now."""
    return {state.name: state.write for state in call.graph.states}


def _state(call: Call, name: str) -> State:
    return next(state for state in call.graph.states if state.name == name)


def _select(call: Call, condition: str, a: str | Variable, b: str | Variable) -> str | Variable:
    if a is b or a == b:
        return a
    if isinstance(a, Variable) or isinstance(b, Variable) or call.type(a) != call.type(b):
        raise call.refuse("has branches with results of different types", "both branches make the same type")
    flag = call.between("reshape", (condition,), shape=(1,) * max(1, call.type(a).rank))
    return call.between("select", (flag, a, b), call.type(a).quant)


def _var_handle(call: Call) -> None:
    if len(call.results) != 1:
        raise call.damaged(f"has {len(call.results)} outputs")
    name = str(call.option("shared_name")) or "variable"
    variable = call.importer.shared.variable((str(call.option("container")), name), name)
    variable.named = True
    call.importer.handles[call.results[0]] = variable


def _handle(call: Call) -> Variable:
    variable = call.importer.handles.get(call.tensors[0]) if call.tensors else None
    if variable is None:
        raise call.damaged("does not say which variable it is for")
    return variable


def _read_variable(call: Call) -> None:
    if len(call.results) != 1:
        raise call.damaged(f"has {len(call.results)} outputs")
    variable = _handle(call)
    if variable.state is None and call.importer.subgraph.tensor(call.results[0]).open_axes:
        raise call.refuse(f"reads variable '{variable.name}' of unknown shape", "variables are given a value first")
    call.importer.alias(call.results[0], call.importer.shared.read(variable, call.output_type()))


def _assign_variable(call: Call) -> None:
    variable, name = _handle(call), call.input(1)
    if not call.importer.initialising:
        call.importer.shared.write(variable, name)
        return
    data = call.constant(name)
    if data is None:
        raise call.refuse("computes the initial value of a variable at run time", "it has to be a constant")
    if variable.state is not None and variable.state.write != variable.state.read:
        raise call.refuse("initialises a variable that is in use", "variables are initialised first")
    call.importer.shared.begin(variable, call.type(name), data)
    variable.given = True


OPERATORS: dict[str, Callable[[Call], None]] = {
    "CALL": _call,
    "STABLEHLO_COMPOSITE": _composite,
    "CALL_ONCE": _call_once,
    "WHILE": _while,
    "STABLEHLO_WHILE": _while,
    "IF": _if,
    "VAR_HANDLE": _var_handle,
    "READ_VARIABLE": _read_variable,
    "ASSIGN_VARIABLE": _assign_variable,
}
