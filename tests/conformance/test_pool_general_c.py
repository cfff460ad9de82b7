"""Pooling in float32, of volumes, plain integers, several samples, and with indices equals the twin."""

import numpy as np
import pytest

from tests.conformance.harness import Case, check, one_node
from tests.conformance.pool_cases import CLAMPS, ints
from tinydeploy.ir import Elem, Quant, Type
from tinydeploy.ops.average_pool2d import AveragePool2d
from tinydeploy.ops.max_pool2d import MaxPool2d
from tinydeploy.ops.max_pool2d_indices import MaxPool2dIndices
from tinydeploy.ops.pool3d import AveragePool3d, MaxPool3d

QUANT = Quant.per_tensor(0.1, -5)


def pool(rng: np.random.Generator, kind: type, elem: Elem, quant: Quant | None) -> Case:
    """A random window of the operator ``kind`` on one to three samples."""
    rank = 3 if kind in (AveragePool3d, MaxPool3d) else 2
    kernel, stride = ints(rng, 1, 3, rank), ints(rng, 1, 3, rank)
    dilation = (1,) * rank if rng.random() < 0.5 else ints(rng, 1, 2, rank)
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    padding = tuple(int(rng.integers(0, s)) for s in span for _ in (0, 1))
    sizes = tuple(s + int(rng.integers(0, 6)) for s in span)
    given = {"kernel": kernel, "stride": stride, "dilation": dilation, "padding": padding}
    if kind is MaxPool2dIndices:
        given["storage_order"] = int(rng.integers(2))
    elif elem is Elem.F32 or quant is not None:
        given["clamp"] = CLAMPS[int(rng.integers(len(CLAMPS)))]
    if kind in (AveragePool2d, AveragePool3d):
        given["count_include_pad"] = bool(rng.integers(2))
    batch = int(rng.integers(1 if quant is None else 2, 4))
    x = Type((batch, *sizes, int(rng.integers(1, 20))), elem, quant)
    results = [quant] if kind is not MaxPool2dIndices else [quant, None]
    return one_node(f"{kind.name} {elem} {x}", kind(**given), [x], results, rng)


FLOATS = [(kind, Elem.F32, None) for kind in (AveragePool2d, AveragePool3d, MaxPool2d, MaxPool3d, MaxPool2dIndices)]
PLAIN = [(kind, elem, None) for kind in (MaxPool2d, MaxPool3d, MaxPool2dIndices) for elem in (Elem.S8, Elem.U8)]
SCALED = [(kind, Elem.S8, QUANT) for kind in (AveragePool2d, AveragePool3d, MaxPool2d, MaxPool3d)]
WIDE = [(kind, Elem.S16, Quant.per_tensor(0.01)) for kind in (AveragePool2d, MaxPool2d)]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_equals_the_twin(tmp_path, compiler):
    rng = np.random.default_rng(1)
    made = [pool(rng, *form) for form in (*FLOATS, *PLAIN, *SCALED, *WIDE) for _ in range(6)]
    assert check(made, tmp_path, compiler=compiler) > 150


def test_nan_wins_but_not_with_indices(tmp_path):
    rng = np.random.default_rng(2)
    made = [pool(rng, kind, Elem.F32, None) for kind in (MaxPool2d, MaxPool3d, MaxPool2dIndices) for _ in range(3)]
    for case in made:
        data = case.feeds["x0"]
        data[rng.random(data.shape) < 0.2] = np.nan
    check(made, tmp_path)
