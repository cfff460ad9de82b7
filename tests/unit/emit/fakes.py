"""A graph of two nodes on kernels of its own: emit is tested without the real operators and kernels."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from tinydeploy.assets import asset_dir
from tinydeploy.ir import Elem, Graph, Node, Quant, Source, State, Type, Value
from tinydeploy.lower._contract import (
    AccessPlan,
    Call,
    Cost,
    In,
    Lowered,
    Offer,
    Out,
    Params,
    ParamsArg,
    Rows,
    Scratch,
    Span,
    Tab,
    Table,
    Target,
    Window,
    elementwise,
)

TARGET = Target("cortex-m4", "dsp", True)
QUANT = Quant.per_tensor(0.5, -3)

HEADER = """/* td_fake.h - kernels of the tests. */
#ifndef TD_FAKE_H
#define TD_FAKE_H

#include "td_arch.h"

typedef struct {
    int32_t width;
    const int8_t *weights;
    float gain;
} td_fake_params;

void td_fake_rows(const td_fake_params *restrict p, const int8_t *const *rows, const int32_t *restrict bias,
                  int8_t *out, int8_t *scratch);
void td_fake_twice(const int8_t *in, int8_t *out, int32_t size);

#endif
"""

SOURCE = """/* td_fake.c - kernels of the tests. */
#include "td_fake.h"

void td_fake_rows(const td_fake_params *restrict p, const int8_t *const *rows, const int32_t *restrict bias,
                  int8_t *out, int8_t *scratch)
{
    for (int32_t x = 0; x < p->width; x++) {
        int32_t sum = bias[0];
        for (int32_t k = 0; k < 3; k++) {
            sum += rows[k][x] * p->weights[k];
        }
        scratch[x] = (int8_t)sum;
    }
    for (int32_t x = 0; x < p->width; x++) {
        out[x] = scratch[x];
    }
}

void td_fake_twice(const int8_t *in, int8_t *out, int32_t size)
{
    for (int32_t i = 0; i < size; i++) {
        out[i] = (int8_t)(in[i] * 2);
    }
}
"""


@dataclasses.dataclass(frozen=True)
class FakeOp:
    """Has a name and a number of MACs, and that is all emit asks for."""

    name: str
    cost: int = 0

    def macs(self, sig: Any) -> int:
        return self.cost


def runtime(folder: Path) -> Path:
    """A runtime_c folder with the fake kernels and the real td_arch.h and td_version.h."""
    for kind in ("include", "src"):
        (folder / kind).mkdir(parents=True)
    for name in ("td_arch.h", "td_version.h"):
        shutil.copy(asset_dir("runtime_c") / "include" / name, folder / "include" / name)
    (folder / "include" / "td_fake.h").write_text(HEADER)
    (folder / "src" / "td_fake.c").write_text(SOURCE)
    return folder


def rows_access(height: int, width: int) -> AccessPlan:
    """3 rows around each output row, read before it is written."""
    rows = np.arange(height)
    low, high = np.maximum(rows - 1, 0) * width, np.minimum(rows + 2, height) * width
    return AccessPlan((Span(low, high), None), (Span(rows * width, (rows + 1) * width),), reads_first=True)


def small(name: str = "small", input_name: str = "audio", output_name: str = "logits") -> tuple[Graph, list[Lowered]]:
    """A 3-row filter over 4x6, then a doubling of 24 values."""
    kind = Type((1, 4, 6, 1), Elem.S8, QUANT)
    graph = Graph(name, source=Source(f"{name}.onnx", "onnx", "0123456789abcdef" * 4))
    for value in (Value(input_name, kind), Value("filtered", kind), Value(output_name, kind)):
        graph.values[value.name] = value
    graph.values["w"] = Value("w", Type((3,), Elem.S8), np.array([1, -1, 2], np.int8))
    graph.inputs, graph.outputs = [input_name], [output_name]
    graph.nodes = [
        Node("filter", FakeOp("filter", 72), (input_name, "w"), ("filtered",)),
        Node("twice", FakeOp("twice"), ("filtered",), (output_name,)),
    ]
    rows = Offer(
        "fake_rows",
        Call(
            "td_fake_rows",
            (ParamsArg(), Rows(0), Tab("bias"), Out(0), Scratch()),
            calls=4,
            windows=((0, Window(3, 1, 1, 1, 4, 6, "pad")),),
            out_row_bytes=(6,),
        ),
        rows_access(4, 6),
        headers=("td_fake.h",),
        sources=("td_fake.c",),
        tables=(
            Table("weights", "int8_t", np.array([1, -1, 2], np.int8)),
            Table("bias", "int32_t", np.array([7, -(2**31)], np.int32)),
            Table("pad", "int8_t", np.full(6, -3, np.int8)),
        ),
        params=Params("td_fake_params", (("width", 6), ("weights", "weights"), ("gain", 0.1))),
        scratch_bytes=6,
        cost=Cost(1000, 1200),
        note="why this one",
    )
    twice = Offer(
        "fake_twice",
        Call("td_fake_twice", (In(0), Out(0), 24)),
        elementwise((24,), 24, 24),
        headers=("td_fake.h",),
        sources=("td_fake.c",),
    )
    return graph, [Lowered(graph.nodes[0], rows), Lowered(graph.nodes[1], twice)]


def with_state() -> tuple[Graph, list[Lowered]]:
    """A doubling whose result is kept; also a constant output, and an output that is the old state."""
    graph, lowered = small("keeper")
    kind = graph.type("audio")
    graph.values["kept"] = Value("kept", kind)
    graph.values["fixed"] = Value("fixed", Type((3,), Elem.S16), np.array([1, -2, 3], np.int16))
    graph.states = [State("memory", "kept", "logits", np.full(kind.shape, -3, np.int8))]
    graph.nodes[1].inputs = ("kept",)
    graph.outputs = ["filtered", "fixed", "kept"]
    return graph, lowered
