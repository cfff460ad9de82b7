"""Statistics in one pass, and the ranges and formats that follow from them."""

from __future__ import annotations

import numpy as np
import pytest

from tinydeploy.ir import Elem
from tinydeploy.quant.ranges import RANGES, minmax, mse, percentile
from tinydeploy.quant.schemes import Format, registry
from tinydeploy.quant.statistics import BINS, Statistics

INT8 = Format(Elem.S8, -128, 127, symmetric=False)
INT16 = Format(Elem.S16, -32767, 32767, symmetric=True)


def seen(*chunks: np.ndarray) -> Statistics:
    statistics = Statistics()
    for chunk in chunks:
        statistics.add(np.asarray(chunk, np.float32))
    return statistics


def squared_error(values: np.ndarray, low: float, high: float, form: Format = INT8) -> float:
    quant = form.quant(low, high)
    q = np.clip(np.rint(values / quant.scale[0]) + quant.zero_point[0], form.low, form.high)
    return float((((q - quant.zero_point[0]) * quant.scale[0] - values) ** 2).mean())


def test_limits_counts_and_means_are_exact() -> None:
    random = np.random.default_rng(0)
    chunks = [random.normal(0, scale, (7, 3)) for scale in (1e-3, 1.0, 250.0)]
    everything = np.concatenate(chunks).astype(np.float32)
    statistics = seen(*chunks, np.zeros((2, 3)))
    assert (statistics.low, statistics.high) == (everything.min(), everything.max())
    assert (statistics.count, statistics.zeros) == (everything.size + 6, 6)
    points, counts = statistics.points()
    assert counts.sum() == everything.size
    assert (points * counts).sum() == pytest.approx(everything.sum(dtype=np.float64))
    means = np.concatenate([everything, np.zeros((2, 3), np.float32)]).mean(axis=0, dtype=np.float64)
    np.testing.assert_allclose(statistics.channel_means(), means)


def test_order_of_samples_changes_little() -> None:
    random = np.random.default_rng(0)
    chunks = [random.normal(0, 4.0**i, 1000) for i in range(4)]
    forwards, backwards = seen(*chunks), seen(*chunks[::-1])
    assert forwards.exponent == backwards.exponent
    assert np.abs(forwards.counts - backwards.counts).sum() < 0.05 * forwards.count
    assert mse(forwards, INT8) == pytest.approx(mse(backwards, INT8), rel=0.05)


def test_merging_is_taking_in_both() -> None:
    random = np.random.default_rng(1)
    small, big = random.normal(0, 1, 500), random.normal(0, 100, 500)
    merged = seen(small)
    merged.merge(seen(big))
    both = seen(small, big)
    assert (merged.low, merged.high, merged.count) == (both.low, both.high, both.count)
    np.testing.assert_array_equal(merged.counts, both.counts)
    merged.merge(Statistics())
    assert merged.count == both.count


@pytest.mark.parametrize("scale", [1e-38, 1e-20, 1.0, 1e20, 1e38])
def test_any_magnitude(scale: float) -> None:
    statistics = seen(np.linspace(-1, 2, 1001) * scale)
    assert len(statistics.counts) == BINS
    low, high = mse(statistics, INT8)
    assert low == pytest.approx(-scale, rel=0.02)
    assert high == pytest.approx(2 * scale, rel=0.02)


def test_uniform_values_keep_their_whole_range() -> None:
    statistics = seen(np.linspace(0, 1, 256))
    assert mse(statistics, INT8) == (0.0, 1.0)


@pytest.mark.parametrize("way", sorted(RANGES))
@pytest.mark.parametrize("shape", ["normal", "relu", "outlier", "negative", "constant", "zeros"])
@pytest.mark.parametrize("form", [INT8, INT16])
def test_every_range_holds_zero_and_lies_in_what_was_seen(way: str, shape: str, form: Format) -> None:
    random = np.random.default_rng(0)
    normal = random.normal(0, 1, 20000)
    values = {
        "normal": normal,
        "relu": np.maximum(normal, 0),
        "outlier": np.append(normal, 1000.0),
        "negative": -np.abs(normal) - 1,
        "constant": np.full(10, 3.0),
        "zeros": np.zeros(10),
    }[shape].astype(np.float32)
    low, high = RANGES[way](seen(values), form)
    assert min(values.min(), 0) <= low <= 0 <= high <= max(values.max(), 0)
    quant = form.quant(low, high)
    assert quant.scale[0] > 0
    assert form.low <= quant.zero_point[0] <= form.high


def test_mse_is_never_worse_than_the_whole_range() -> None:
    random = np.random.default_rng(0)
    for values in (random.normal(0, 1, 5000), random.laplace(0, 1, 5000), np.maximum(random.normal(-1, 3, 5000), 0)):
        statistics = seen(values)
        assert squared_error(values, *mse(statistics, INT8)) <= 1.01 * squared_error(values, *minmax(statistics, INT8))


def test_mse_clips_a_rare_outlier() -> None:
    values = np.append(np.random.default_rng(0).normal(0, 1, 1_000_000), 12.0)
    statistics = seen(values)
    assert mse(statistics, INT8)[1] < 8
    assert percentile(statistics, INT8)[1] < 6
    assert minmax(statistics, INT8)[1] == 12


@pytest.mark.parametrize(("low", "high"), [(-1, 1), (0, 6), (-3, 0), (2, 5), (-7, -2), (0, 1e-30), (0, 0), (-1e30, 1)])
def test_formats_hold_zero_exactly(low: float, high: float) -> None:
    for form in (INT8, INT16):
        quant = form.quant(low, high)
        scale, zero = quant.scale[0], quant.zero_point[0]
        assert scale == float(np.float32(scale)) > 0
        assert form.low <= zero <= form.high
        assert zero == 0 or not form.symmetric
        assert scale * (form.low - zero) <= low + 0.51 * scale or form.symmetric
        assert scale * (form.high - zero) >= high - 0.51 * scale


def test_a_scheme_is_a_module() -> None:
    assert registry()["int8"].name == "w8a8"
