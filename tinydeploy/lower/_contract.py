"""What a kernel offers for a node: how it is called, what it reads and writes when, what it needs and what it costs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tinydeploy.ir import Array, Graph, Node
from tinydeploy.ops._op import Signature
from tinydeploy.target.cpu import CpuClass

Bytes: TypeAlias = npt.NDArray[np.int64]
_FAR = np.int64(2**61)  # beyond any byte; sums of two stay in int64


@dataclasses.dataclass(frozen=True)
class Target:
    """What code is generated for.

    ``cpu``: a name of `target.cpu.CPUS`. ``has_long_multiply``: 32 x 32 -> 64 bit in hardware (not on ARMv6-M and
    ARMv8-M baseline). ``max_ram``, ``max_flash``: budgets in bytes.
    """

    cpu: str
    cpu_class: CpuClass
    has_long_multiply: bool
    optimize: Literal["size", "balanced", "speed"] = "balanced"
    max_ram: int | None = None
    max_flash: int | None = None


# --- layout ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Encoding:
    """How a tensor's elements lie in memory between two kernels: a property of the edge, not of the type.

    ``order``: axes from slowest to fastest. ``row_bytes``: distance of rows, None = dense. ``pad_columns``: extra
    columns at the right of a row. ``element``: "plain", or a converted form such as "u8_biased".
    """

    order: tuple[int, ...] | None = None  # None: as the type's shape says
    row_bytes: int | None = None
    pad_columns: int = 0
    element: str = "plain"


DENSE = Encoding()


# --- access -----------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Span:
    """Bytes touched at each step, relative to the tensor's start: ``low[t] <= byte < high[t]``; low == high: none."""

    low: Bytes
    high: Bytes

    @staticmethod
    def none(steps: int) -> Span:
        """Nothing at any step."""
        return Span(np.zeros(steps, np.int64), np.zeros(steps, np.int64))

    def hulls(self, every: int) -> Span:
        """The same in fewer steps: one hull of ``every`` steps each, to which empty ones add nothing."""
        firsts = np.arange(0, len(self.low), every)
        empty = self.low >= self.high
        lowest = np.minimum.reduceat(np.where(empty, _FAR, self.low), firsts)
        highest = np.maximum.reduceat(np.where(empty, -1, self.high), firsts)
        none = lowest == _FAR
        return Span(np.where(none, 0, lowest), np.where(none, 0, highest))


@dataclasses.dataclass(frozen=True)
class AccessPlan:
    """When a kernel reads and writes, in steps. From this the planner computes what may overlap; nothing is assumed.

    ``reads``: one `Span` an *input of the node* (None: a constant, absent, or not in the arena). ``writes``: one an
    output. All have the same number of steps. ``reads_first``: in a step every read precedes every write; if False
    they may interleave in any order. A step's read span may be a hull: it holds all bytes read, perhaps more.
    """

    reads: tuple[Span | None, ...]
    writes: tuple[Span, ...]
    reads_first: bool

    def distance(self, input_index: int, output_index: int) -> int:
        """The least ``offset(input) - offset(output)`` in bytes at which no byte is overwritten before its last read.

        May be negative. An input that is read completely before the first write gives minus its size or less.
        """
        span, out = self.reads[input_index], self.writes[output_index]
        assert span is not None
        lows = np.where(span.low >= span.high, _FAR, span.low)
        still = np.minimum.accumulate(lows[::-1])[::-1]  # lowest byte read at this step or later
        if self.reads_first:
            still = np.append(still[1:], _FAR)
        ends = np.where(out.low >= out.high, -_FAR, out.high)
        size = int(span.high.max(initial=0))
        return max(int((ends - still).max(initial=-size)), -size)


def whole(size: int, steps: int = 1) -> Span:
    """The whole tensor at every step."""
    return Span(np.zeros(steps, np.int64), np.full(steps, size, np.int64))


def elementwise(in_sizes: tuple[int | None, ...], out_size: int, steps: int) -> AccessPlan:
    """Element by element in rising order: step t touches the t-th of ``steps`` equal parts of every tensor.

    ``in_sizes``, ``out_size``: bytes; None for a constant.
    """

    def part(size: int) -> Span:
        edges = np.arange(steps + 1, dtype=np.int64) * size // steps
        return Span(edges[:-1], edges[1:])

    return AccessPlan(tuple(None if s is None else part(s) for s in in_sizes), (part(out_size),), reads_first=True)


# --- constants and calls --------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Table:
    """A constant array in flash: ``data`` is 1-D (a structured dtype for structs), or 2-D with a struct a row."""

    name: str  # a suffix: "weights", "requant", "pad"
    c_type: str
    data: Array
    align: int = 4


@dataclasses.dataclass(frozen=True)
class Symbol:
    """A name that a header of the kernel declares, such as a function the kernel is to call."""

    name: str


@dataclasses.dataclass(frozen=True)
class Params:
    """A ``static const`` struct: C type and fields in the struct's order; a string value names a Table of the node."""

    c_type: str
    fields: tuple[tuple[str, int | float | str | Symbol], ...]


@dataclasses.dataclass(frozen=True)
class In:
    """Argument: pointer to an input's first element (or, in a row loop, to this call's row of it)."""

    index: int


@dataclasses.dataclass(frozen=True)
class Rows:
    """Argument: array of row pointers of an input (see `Window`)."""

    index: int


@dataclasses.dataclass(frozen=True)
class Out:
    """Argument: pointer to an output's first element, or to this call's row of it."""

    index: int


@dataclasses.dataclass(frozen=True)
class Tab:
    """Argument: a Table of the node."""

    name: str


@dataclasses.dataclass(frozen=True)
class ParamsArg:
    """Argument: address of the node's Params."""


@dataclasses.dataclass(frozen=True)
class Scratch:
    """Argument: pointer to the node's scratch bytes (aligned to 16)."""


Argument: TypeAlias = "In | Rows | Out | Tab | ParamsArg | Scratch | int"


@dataclasses.dataclass(frozen=True)
class Window:
    """Which rows of an input a row kernel needs for output row y: y*stride - pad + k*dilation, k = 0..rows-1.

    A row outside 0..height-1 is a pointer to the Table ``pad`` (a constant row of the zero point), which must exist
    if any row is ever outside. ``row_bytes``: distance between rows in the tensor.
    """

    rows: int
    stride: int
    dilation: int
    pad: int
    height: int
    row_bytes: int
    pad_table: str | None = None


@dataclasses.dataclass(frozen=True)
class Call:
    """One kernel call, or a loop of it over ``calls`` output rows.

    ``function``: C symbol. ``arguments``: in the C order. ``windows``: for each input index used by `Rows`.
    In a loop, `In`/`Out` advance by ``in_row_bytes`` / ``out_row_bytes`` a call.
    ``then``: calls made after this one, none of them a loop (an operator that moves several tensors).
    """

    function: str
    arguments: tuple[Argument, ...]
    calls: int = 1
    windows: tuple[tuple[int, Window], ...] = ()
    in_row_bytes: tuple[tuple[int, int], ...] = ()
    out_row_bytes: tuple[int, ...] = ()
    then: tuple[Call, ...] = ()


@dataclasses.dataclass(frozen=True)
class Cost:
    """Estimates for one run of the node on the target."""

    instructions: int
    cycles: int


@dataclasses.dataclass(frozen=True)
class Offer:
    """A kernel that can run a node.

    ``kernel``: name shown in the manifest ("conv2d_w8a8_dsp"). ``headers`` / ``sources``: file names under
    runtime_c/include and runtime_c/src that must be shipped (headers they include are found by emit).
    ``scratch_bytes``: arena bytes needed only while the node runs. ``stack_bytes``: of the kernel itself, beyond what
    the compiler reports (assembly). ``view``: True if the output *is* the input's memory (reshape): no call is made.
    """

    kernel: str
    call: Call | None
    access: AccessPlan | None
    headers: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    params: Params | None = None
    scratch_bytes: int = 0
    cost: Cost = Cost(0, 0)
    inputs: tuple[Encoding, ...] = ()
    outputs: tuple[Encoding, ...] = ()
    view: bool = False
    note: str = ""  # for the manifest: why this form (for example which requantisation was proved)

    @property
    def weights_bytes(self) -> int:
        """Bytes of constants the node puts in flash."""
        return sum(table.data.nbytes for table in self.tables)


VIEW = Offer(kernel="view", call=None, access=None, view=True)


@dataclasses.dataclass(frozen=True)
class LowerContext:
    """What a kernel module is given to make its offers. ``memo``: what the modules of one node share, by name."""

    graph: Graph
    node: Node
    target: Target
    memo: dict[Any, Any] = dataclasses.field(default_factory=dict, compare=False, repr=False)

    @property
    def signature(self) -> Signature:
        """Types of the node's inputs and outputs."""
        return Signature.of(self.graph, self.node)

    def constant(self, index: int) -> Array | None:
        """Content of a constant input, else None."""
        return self.graph.constant(self.node.inputs[index]) if index < len(self.node.inputs) else None


@dataclasses.dataclass(frozen=True)
class Lowered:
    """A node and the offer chosen for it; ``alternatives`` are the others, cheapest cycles first."""

    node: Node
    offer: Offer
    alternatives: tuple[Offer, ...] = ()


Offers: TypeAlias = Callable[[LowerContext], "list[Offer]"]
