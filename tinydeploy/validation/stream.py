"""Samples as the byte streams that the firmware's main reads and writes."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tinydeploy.errors import InputError, Problem, ValidationError
from tinydeploy.target.project import Project, TensorSpec

INPUT_FILE, OUTPUT_FILE = "td_in.bin", "td_out.bin"
_MAGIC_IN, _MAGIC_OUT = 0x31494454, 0x314F4454
_TRAILER = struct.Struct("<8I")
_EVENT_HEAD = struct.Struct("<2I")
_STACK_EXHAUSTED = 0xFFFFFFFF

#: Exit codes: main.c's statuses, the sanitizers' (set in host.py), and the fault handler's.
STATUS = {
    1: "it could not open its sample files",
    2: "its input stream ended early",
    3: "its input stream was made for another model",
    4: "it could not write its output",
    99: "a sanitizer found a fault",
    101: "the processor took a fault",
}


@dataclasses.dataclass(frozen=True)
class Trailer:
    """What the firmware reports at the end: runs done, stack of NAME_run in bytes, processor clocks of its first run.

    ``stack_bytes`` and ``ticks`` are None where the machine has no gauge or clock.
    """

    samples: int
    steps: int
    stack_bytes: int | None
    ticks: int | None


@dataclasses.dataclass(frozen=True)
class Layout:
    """How arrays map to steps: samples, steps a sample, and whether arrays carry a step axis behind the sample axis."""

    samples: int
    steps: int
    step_axis: bool


def element_type(spec: TensorSpec) -> np.dtype[np.generic]:
    """Return the NumPy type of a tensor's elements in the stream: little-endian, bool as one byte."""
    little_endian: np.dtype[np.generic] = np.dtype(spec.dtype).newbyteorder("<")
    return little_endian


def _layout_of(spec: TensorSpec, array: NDArray[np.generic], stateful: bool) -> Layout | Problem:
    # The batch axis of 1 that most models carry may be left out.
    shapes = {spec.shape, spec.shape[1:] if spec.shape[:1] == (1,) else spec.shape}
    if array.dtype != np.dtype(spec.dtype):
        return Problem(f"input {spec.name!r}", f"has dtype {array.dtype}", rule=f"the model takes {spec.dtype}")
    if array.ndim >= 1 and array.shape[0] > 0:
        if array.shape[1:] in shapes:
            return Layout(array.shape[0], 1, False)
        if stateful and array.ndim >= 2 and array.shape[1] > 0 and array.shape[2:] in shapes:
            return Layout(array.shape[0], array.shape[1], True)
    expected = ", ".join(["samples", *(["steps"] if stateful else []), *map(str, spec.shape)])
    return Problem(f"input {spec.name!r}", f"has shape {list(array.shape)}", rule=f"expected [{expected}]")


def layout_of(project: Project, inputs: Mapping[str, NDArray[np.generic]]) -> Layout:
    """Check the arrays against the model's inputs and return how they are laid out.

    Raises: InputError with everything that does not match.
    """
    problems = [Problem(f"input {s.name!r}", "is missing") for s in project.inputs if s.name not in inputs]
    known = {spec.name for spec in project.inputs}
    problems += [
        Problem(f"input {name!r}", "is not one of the model's", rule="inputs: " + ", ".join(sorted(known)))
        for name in inputs
        if name not in known
    ]
    found = [
        (spec, _layout_of(spec, inputs[spec.name], project.state_bytes > 0))
        for spec in project.inputs
        if spec.name in inputs
    ]
    problems += [result for _, result in found if isinstance(result, Problem)]
    layouts = [result for _, result in found if isinstance(result, Layout)]
    if not problems and len(set(layouts)) > 1:
        counts = ", ".join(f"{spec.name}: {result}" for spec, result in found)
        problems.append(Problem("data", "inputs disagree in samples or steps", rule=counts))
    if problems:
        raise InputError(problems)
    if not layouts:
        raise InputError(Problem("model", "has no inputs to feed"))
    return layouts[0]


def write_input(folder: Path, project: Project, inputs: Mapping[str, NDArray[np.generic]], layout: Layout) -> None:
    """Write ``folder/td_in.bin``: a header, then for every step all inputs in the model's order."""
    count = layout.samples * layout.steps
    columns = [
        np.ascontiguousarray(inputs[spec.name], dtype=element_type(spec)).reshape(count, -1).view(np.uint8)
        for spec in project.inputs
    ]
    bytes_in = sum(spec.step_bytes for spec in project.inputs)
    bytes_out = sum(spec.step_bytes for spec in project.outputs)
    header = struct.pack("<5I", _MAGIC_IN, layout.samples, layout.steps, bytes_in, bytes_out)
    with (folder / INPUT_FILE).open("wb") as file:
        file.write(header)
        file.write(np.concatenate(columns, axis=1).tobytes())


@dataclasses.dataclass(frozen=True)
class Event:
    """What a trace build records of a run in one place: ``bytes`` of an output of the node of this number."""

    node: int
    bytes: int


@dataclasses.dataclass(frozen=True)
class Output:
    """The whole output stream. ``outputs``: arrays ``[samples, (steps,) *shape]`` by name. ``events``: the data of each
    event asked for, bytes ``[samples * steps, event.bytes]``.
    """

    outputs: dict[str, NDArray[np.generic]]
    trailer: Trailer
    events: tuple[NDArray[np.uint8], ...] = ()


def read_output(folder: Path, project: Project, layout: Layout, events: Sequence[Event] = ()) -> Output:
    """Read ``folder/td_out.bin``. ``events``: what a trace build records in every run, in this order.

    Raises: ValidationError if the stream is cut short, reports fewer runs than were asked for or records other events.
    """
    path = folder / OUTPUT_FILE
    data = path.read_bytes() if path.is_file() else b""
    bytes_out = sum(_EVENT_HEAD.size + event.bytes for event in events)
    bytes_out += sum(spec.step_bytes for spec in project.outputs)
    count = layout.samples * layout.steps
    expected = count * bytes_out + _TRAILER.size
    words = _TRAILER.unpack(data[-_TRAILER.size :]) if len(data) >= _TRAILER.size else (0,) * 8
    if len(data) != expected or words[0] != _MAGIC_OUT or words[1] != 0 or words[2:4] != (layout.samples, count):
        what = f"wrote {len(data)} bytes of output instead of {expected}"
        raise ValidationError(Problem(project.name, what, rule=f"{layout.samples} samples of {layout.steps} steps"))
    if words[4] == _STACK_EXHAUSTED:
        what = "used the whole stack that was watched"
        raise ValidationError(Problem(project.name, what, rule="at most 1 MB, and no more than the board's RAM leaves"))
    table = np.frombuffer(data, dtype=np.uint8, count=count * bytes_out).reshape(count, bytes_out)
    lead = (layout.samples, layout.steps) if layout.step_axis else (layout.samples,)
    outputs: dict[str, NDArray[np.generic]] = {}
    traced, at = _read_events(table, project, events)
    for spec in project.outputs:
        block = np.ascontiguousarray(table[:, at : at + spec.step_bytes])
        outputs[spec.name] = block.view(element_type(spec)).reshape(*lead, *spec.shape)
        at += spec.step_bytes
    return Output(outputs, Trailer(words[2], words[3], words[4] or None, words[5] or None), traced)


def _read_events(
    table: NDArray[np.uint8], project: Project, events: Sequence[Event]
) -> tuple[tuple[NDArray[np.uint8], ...], int]:
    """The events at the start of every row of ``table``, and where they end."""
    traced = []
    at = 0
    for event in events:
        head = np.frombuffer(_EVENT_HEAD.pack(event.node, event.bytes), dtype=np.uint8)
        start = at + _EVENT_HEAD.size
        if not np.array_equal(table[:, at:start], np.broadcast_to(head, (len(table), len(head)))):
            what = f"recorded something else than {event.bytes} bytes of node {event.node}"
            raise ValidationError(Problem(project.name, what, hint="convert the model again"))
        at = start + event.bytes
        traced.append(np.ascontiguousarray(table[:, start:at]))
    return tuple(traced), at
