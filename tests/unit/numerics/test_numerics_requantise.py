"""Requantisation against gemmlowp's formulas written out in Python integers."""

import math

import numpy as np
import pytest

from tinydeploy.numerics.requantise import (
    INT32_MAX,
    INT32_MIN,
    float_to_int32,
    multiply_by_quantised_multiplier,
    quantise_multiplier,
    quantise_multipliers,
    round_half_away,
    rounding_divide_by_pot,
    saturating_rounding_doubling_high_mul,
    wrap_int32,
)

NEAR_POWERS = {sign * 2**bits + extra for bits in range(32) for extra in (-1, 0, 1) for sign in (-1, 1)}
CORNERS = sorted(value for value in NEAR_POWERS if INT32_MIN <= value <= INT32_MAX)


def truncated_quotient(a: int, b: int) -> int:
    """C's division."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def srdhm(a: int, b: int) -> int:
    if a == b == INT32_MIN:
        return INT32_MAX
    nudge = 2**30 if a * b >= 0 else 1 - 2**30
    return truncated_quotient(a * b + nudge, 2**31)


def rdbpot(x: int, exponent: int) -> int:
    mask = (1 << exponent) - 1
    return (x >> exponent) + ((x & mask) > (mask >> 1) + (x < 0))


def wrapped(x: int) -> int:
    return (x + 2**31) % 2**32 - 2**31


def double_rounding(x: int, m: int, shift: int) -> int:
    return rdbpot(srdhm(wrapped(x << max(shift, 0)), m), max(-shift, 0))


@pytest.fixture
def values():
    rng = np.random.default_rng(1)
    return np.array([*CORNERS, *rng.integers(INT32_MIN, INT32_MAX, 300)], np.int64)


def test_high_mul(values):
    others = [INT32_MIN, -1, 0, 1, 2**30, 2**30 + 1, 3 << 29, INT32_MAX, 1518500250]
    for other in others:
        want = [srdhm(int(a), other) for a in values]
        np.testing.assert_array_equal(saturating_rounding_doubling_high_mul(values, other), want)


@pytest.mark.parametrize("exponent", [0, 1, 2, 7, 30, 31])
def test_divide_by_power_of_two(values, exponent):
    want = [rdbpot(int(x), exponent) for x in values]
    np.testing.assert_array_equal(rounding_divide_by_pot(values, exponent), want)


@pytest.mark.parametrize("shift", [-31, -12, -1, 0, 1, 9, 30])
@pytest.mark.parametrize("multiplier", [0, 2**30, 1518500250, INT32_MAX])
def test_double_rounding(values, multiplier, shift):
    want = [double_rounding(int(x), multiplier, shift) for x in values]
    np.testing.assert_array_equal(multiply_by_quantised_multiplier(values, multiplier, shift), want)


def test_per_channel_multipliers_follow_the_last_axis():
    x = np.array([[1000, 1000, 1000], [-7, -7, -7]], np.int32)
    multipliers, shifts = quantise_multipliers([0.5, 1.0, 0.001])
    got = multiply_by_quantised_multiplier(x, multipliers, shifts)
    np.testing.assert_array_equal(got, [[500, 1000, 1], [-3, -7, 0]])


@pytest.mark.parametrize(
    ("real", "want"),
    [
        (0.0, (0, 0)),
        (1.0, (2**30, 1)),
        (0.5, (2**30, 0)),
        (0.75, (3 << 29, 0)),
        (1 - 2**-40, (2**30, 1)),  # rounds up to one
        (2.0**-32, (2**30, -31)),
        (2.0**-33, (0, 0)),  # shift -32 is flushed
        (2.0**30, (2**30, 31)),
        (2.0**31, (0, 0)),  # shift 32 leaves no bit
        (math.inf, (0, 0)),
    ],
)
def test_quantise_multiplier(real, want):
    assert quantise_multiplier(real) == want


def test_quantise_multiplier_is_near():
    for real in np.exp(np.random.default_rng(2).uniform(-20, 10, 500)):
        multiplier, shift = quantise_multiplier(float(real))
        assert 2**30 <= multiplier < 2**31
        assert math.ldexp(multiplier, shift - 31) == pytest.approx(real, rel=2**-31)


def test_round_half_away():
    x = np.array([0.5, 1.5, 2.5, -0.5, -2.5, 0.49999999999999994, 2.0**53 + 2, np.inf, -0.2])
    np.testing.assert_array_equal(round_half_away(x), [1, 2, 3, -1, -3, 0, 2.0**53 + 2, np.inf, 0])
    assert round_half_away(np.float32([0.5])).dtype == np.float32


def test_float_to_int32_saturates():
    np.testing.assert_array_equal(float_to_int32([1e20, -1e20, np.nan, -3.0]), [INT32_MAX, INT32_MIN, 0, -3])


def test_wrap():
    np.testing.assert_array_equal(wrap_int32([2**31, -(2**31) - 1, 2**32 + 5]), [INT32_MIN, INT32_MAX, 5])
