"""A project folder written by hand: two nodes, one kernel file, a state that adds up over the steps of a sequence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

HEADER = """
#ifndef MINI_H
#define MINI_H
#include <stdint.h>
#define MINI_ARENA_BYTES 64
#define MINI_STATE_BYTES 32
#define MINI_INPUT_0_SIZE 8
#define MINI_INPUT_1_SIZE 3
#define MINI_OUTPUT_0_SIZE 8
#define MINI_OUTPUT_1_SIZE 1
typedef struct mini_ctx { uint8_t *arena; uint8_t *state; } mini_ctx;
int8_t *mini_input_0(mini_ctx *c);
int16_t *mini_input_1(mini_ctx *c);
const int8_t *mini_output_0(const mini_ctx *c);
const int32_t *mini_output_1(const mini_ctx *c);
void mini_run(mini_ctx *c);
void mini_reset(mini_ctx *c);
#define MINI_STATIC_CTX(ctx) \\
    static uint8_t ctx##_arena[MINI_ARENA_BYTES] __attribute__((aligned(16))); \\
    static uint8_t ctx##_state[MINI_STATE_BYTES] __attribute__((aligned(16))); \\
    static mini_ctx ctx = {ctx##_arena, ctx##_state}
#endif
"""

SOURCE = """
#include "mini.h"
#include "td_mini.h"
static const int8_t weights[300] = {3, -2, 1, 4, 5, -6, 7, 1};
static const int8_t *w(void) { return weights; }
int8_t *mini_input_0(mini_ctx *c) { return (int8_t *)c->arena; }
int16_t *mini_input_1(mini_ctx *c) { return (int16_t *)(void *)(c->arena + 16); }
const int8_t *mini_output_0(const mini_ctx *c) { return (const int8_t *)(c->arena + 32); }
const int32_t *mini_output_1(const mini_ctx *c) { return (const int32_t *)(const void *)(c->arena + 48); }
__attribute__((noinline)) static void mini_node0(mini_ctx *c)
{
    td_mini_scale((const int8_t *)c->arena, w(), (int32_t *)(void *)c->state, 8);
}
__attribute__((noinline)) static void mini_node1(mini_ctx *c)
{
    const int32_t *state = (const int32_t *)(const void *)c->state;
    const int16_t *extra = (const int16_t *)(const void *)(c->arena + 16);
    int32_t sum = 0;
    EXTRA
    for (int32_t i = 0; i < 8; ++i) {
        ((int8_t *)c->arena)[32 + i] = (int8_t)(uint8_t)((uint32_t)state[i] & 0x7fu);
        sum += state[i];
    }
    *(int32_t *)(void *)(c->arena + 48) = sum + extra[0] + extra[1] * extra[2];
}
void mini_run(mini_ctx *c)
{
    mini_node0(c);
    mini_node1(c);
}
void mini_reset(mini_ctx *c)
{
    for (int32_t i = 0; i < 32; ++i) {
        c->state[i] = 0;
    }
}
"""

KERNEL_H = """
#ifndef TD_MINI_H
#define TD_MINI_H
#include <stdint.h>
void td_mini_scale(const int8_t *x, const int8_t *w, int32_t *sums, int32_t n);
#endif
"""

KERNEL_C = """
#include "td_mini.h"
void td_mini_scale(const int8_t *x, const int8_t *w, int32_t *sums, int32_t n)
{
    int32_t product[32];
    for (int32_t i = 0; i < n; ++i) {
        product[i] = x[i] * w[i];
        __asm__ volatile("" : : "r"(product) : "memory");
    }
    for (int32_t i = 0; i < n; ++i) {
        sums[i] += product[i];
    }
}
"""

WEIGHTS = np.array([3, -2, 1, 4, 5, -6, 7, 1], dtype=np.int64)


CALLER_IO = """
void mini_run(mini_ctx *c, const int8_t *in0, const int16_t *in1, int8_t *out0, int32_t *out1)
{
    for (int32_t i = 0; i < 8; ++i) {
        mini_input_0(c)[i] = in0[i];
    }
    for (int32_t i = 0; i < 3; ++i) {
        mini_input_1(c)[i] = in1[i];
    }
    mini_node0(c);
    mini_node1(c);
    for (int32_t i = 0; i < 8; ++i) {
        out0[i] = mini_output_0(c)[i];
    }
    *out1 = *mini_output_1(c);
}
"""


def write_mini(
    folder: Path,
    *,
    extra: str = "",
    arena: int = 64,
    weights: int = 300,
    cpu: str = "cortex-m0",
    caller_io: bool = False,
) -> Path:
    """Write the project; ``extra`` are C statements in its second node, ``caller_io`` makes run take buffers."""
    header, source = HEADER, SOURCE
    if caller_io:
        plain_run = source[source.index("void mini_run") : source.index("void mini_reset")]
        source = source.replace(plain_run, CALLER_IO)
        prototype = CALLER_IO.strip().splitlines()[0] + ";"
        header = header.replace("void mini_run(mini_ctx *c);", prototype)
    (folder / "runtime" / "include").mkdir(parents=True)
    (folder / "runtime" / "src").mkdir()
    (folder / "mini.h").write_text(header.replace("ARENA_BYTES 64", f"ARENA_BYTES {arena}"))
    (folder / "mini.c").write_text(source.replace("EXTRA", extra).replace("weights[300]", f"weights[{weights}]"))
    (folder / "runtime" / "include" / "td_mini.h").write_text(KERNEL_H)
    (folder / "runtime" / "src" / "td_mini.c").write_text(KERNEL_C)
    manifest = {
        "name": "mini",
        "cpu": cpu,
        "inputs": [
            {"name": "x", "c_name": "x", "shape": [1, 8], "dtype": "int8", "scale": 1.0, "zero_point": 0},
            {"name": "extra", "c_name": "extra", "shape": [1, 3], "dtype": "int16", "scale": 1.0, "zero_point": 0},
        ],
        "outputs": [
            {"name": "y", "c_name": "y", "shape": [1, 8], "dtype": "int8", "scale": 1.0, "zero_point": 0},
            {"name": "total", "c_name": "total", "shape": [1, 1], "dtype": "int32", "scale": 1.0, "zero_point": 0},
        ],
        "arena_bytes": arena,
        "state_bytes": 32,
        "io_buffers": "caller" if caller_io else "arena",
        "nodes": [
            {"name": "scale", "op": "mul", "function": "mini_node0"},
            {"name": "sum", "op": "add", "function": "mini_node1"},
        ],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def sequences(samples: int = 5, steps: int = 3) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    return {
        "x": rng.integers(-128, 128, (samples, steps, 8), dtype=np.int8),
        "extra": rng.integers(-300, 300, (samples, steps, 3), dtype=np.int16),
    }


def expected(inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What the project answers, worked out in NumPy."""
    sums = np.cumsum(inputs["x"].astype(np.int64) * WEIGHTS, axis=1)
    extra = inputs["extra"].astype(np.int64)
    total = sums.sum(axis=2) + extra[..., 0] + extra[..., 1] * extra[..., 2]
    lead = total.shape
    return {
        "y": (sums & 0x7F).astype(np.int8).reshape(*lead, 1, 8),
        "total": total.astype(np.int32).reshape(*lead, 1, 1),
    }
