"""Rounding in parts of a multiplier equals TFLite's on every sum, and no part leaves 32 bits."""

import numpy as np
import pytest

from tinydeploy.lower import _trio
from tinydeploy.lower._linear import Linear
from tinydeploy.lower.requantise import Scaling, solve


def wrap(x: np.ndarray) -> np.ndarray:
    return (x + 2**31) % 2**32 - 2**31


def layer(rng: np.random.Generator, taps: int, zero_point: int) -> Linear:
    weights = rng.integers(-127, 127, (6, taps), endpoint=True)
    scaling = Scaling(
        bias=rng.integers(-3000, 3000, 6),
        ratio=np.exp(rng.uniform(-7, -4, 6)) / np.sqrt(taps),
        low=np.minimum(weights * 127, weights * -128).sum(axis=1),
        high=np.maximum(weights * 127, weights * -128).sum(axis=1),
        zero_point=zero_point,
        act_min=-128,
        act_max=127,
    )
    requant = solve(scaling)
    assert requant is not None
    return Linear(weights, scaling, requant)


def every_sum(scaling: Scaling, channel: int, most: int = 20000) -> np.ndarray:
    low, high = int(scaling.low[channel]), int(scaling.high[channel])
    return np.unique(np.linspace(low, high, min(high - low + 1, most)).astype(np.int64))


@pytest.mark.parametrize("taps", [4, 9, 40])
def test_two_parts(taps: int) -> None:
    rng, proved = np.random.default_rng(taps), 0
    for _ in range(6):
        lin = layer(rng, taps, -128)
        how = _trio.blocks(lin)
        assert how is not None
        assert how.windows == 1
        if how.form != "_short":
            continue
        proved += 1
        for channel, record in enumerate(how.requant.data):
            m, c = int(record["m"]), (int(record["c_hi"]) << 32) + int(record["c_lo"])
            sums = every_sum(lin.scaling, channel)
            first = sums * (m & (1 << how.part) - 1) + (c & (1 << how.part) - 1)
            assert np.abs(first).max() < 2**31
            y = wrap((first >> how.part) + wrap(sums * (m >> how.part)) + wrap(np.int64(c >> how.part)))
            y = np.clip(y >> how.constant, -128, 127)
            wanted = lin.scaling.output(np.broadcast_to(sums, (6, len(sums))))[channel]
            np.testing.assert_array_equal(y, wanted)
    assert proved >= 3, proved


def test_windows_are_the_fewest_equal_ones() -> None:
    assert _trio.window_count(np.full((1, 64), 127)) == 1
    assert _trio.window_count(np.full((1, 64), -128)) == 2
    assert _trio.window_count(np.full((1, 65), 127)) == 5
    assert _trio.window_count(np.zeros((3, 5000), np.int64)) == 1
    rng = np.random.default_rng(1)
    for _ in range(20):
        weights = rng.integers(-128, 127, (3, int(rng.integers(1, 400))), endpoint=True)
        count = _trio.window_count(weights)
        parts = np.split(weights, count, axis=1)
        assert all(128 * np.abs(part).sum(axis=1).max() <= 2**20 + 128 * 128 for part in parts)
        assert all((x * part).sum(axis=1).max() < _trio.FIELD for part in parts for x in (-128, 127))


def test_sums_beyond_the_blocks_are_refused() -> None:
    rng = np.random.default_rng(3)
    lin = layer(rng, 2000, -128)
    big = Linear(np.full_like(lin.weights, 127), lin.scaling, lin.requant)
    object.__setattr__(big.scaling, "high", np.full(6, 2**24))
    assert _trio.blocks(big) is None
