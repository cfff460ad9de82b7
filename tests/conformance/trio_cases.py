"""Convolutions for the kernels that put three sums into two words: every block, entry, window and rounding."""

from __future__ import annotations

import dataclasses

import numpy as np

from tests.conformance import linear_cases
from tests.conformance.harness import Case, one_node, s8
from tinydeploy.ir import Elem, Quant, Type
from tinydeploy.ops.conv2d import Conv2d

PLAIN = {"kernel": (1, 1), "stride": (1, 1), "padding": (0, 0, 0, 0), "dilation": (1, 1)}


def cases(seed: int) -> list[Case]:
    """Random and regular shapes; 1 to 16 taps, so that the unrolled taps are entered everywhere; 1 to 13 pixels."""
    rng = np.random.default_rng(seed)
    entries = [
        coarse(linear_cases.conv(rng, f"{k} taps", depth=k, plane=(1, k % 7 + 6), **PLAIN)) for k in range(1, 17)
    ]
    pixels = [coarse(linear_cases.conv(rng, f"{w} pixels", depth=3, plane=(1, w), **PLAIN)) for w in range(1, 14)]
    random = [linear_cases.conv(rng, f"random {i}") for i in range(12)]
    edges = [linear_cases.conv(rng, f"edge {i}", edge=True) for i in range(8)]
    grouped = [linear_cases.conv(rng, f"groups {i}", groups=int(rng.integers(2, 5))) for i in range(4)]
    return [*entries, *pixels, *random, *edges, *grouped, *heavy(rng)]


def coarse(case: Case) -> Case:
    """The same with an output scale that keeps the multipliers below 1/2, as those of any real layer are."""
    value = case.graph.values["y0"]
    assert value.type.quant is not None
    scale = 16 * float(value.type.quant.scale[0])
    kind = dataclasses.replace(value.type, quant=Quant.per_tensor(scale, int(value.type.quant.zero_point[0])))
    case.graph.values["y0"] = dataclasses.replace(value, type=kind)
    return case


def heavy(rng: np.random.Generator) -> list[Case]:
    """Sums at the ends of their fields: taps in one and in several windows, all weights and inputs at the ends."""
    made = []
    for taps, weight in ((63, -128), (64, -128), (64, 127), (65, 127), (200, -128), (200, 127)):
        quant = Quant.per_channel(np.full(3, 0.01), 0)
        content = np.full((3, 1, 1, taps), weight, np.int8)
        content[1] = -content[1] // 2
        content[2] = rng.integers(-128, 127, taps, endpoint=True)
        weights = (Type(content.shape, Elem.S8, quant), content)
        for out in (Quant.per_tensor(100.0, -128), Quant.per_tensor(163.0, 3)):
            label = f"{taps} taps of {weight}, zero point {out.zero_point}"
            x = s8((1, 1, 8, taps), 1.0, int(rng.choice([-128, 0])))
            case = one_node(label, Conv2d(clamp=linear_cases.NO_LIMIT), [x, weights, None], [out], rng)
            case.feeds["x0"][1] = np.array([-128] * 4 + [127] * 4)[None, None, :, None]
            made.append(case)
    return made
