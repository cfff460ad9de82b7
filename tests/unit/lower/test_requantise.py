"""The solver's forms equal TFLite's rounding on every accumulator, or it says that they do not."""

import numpy as np
import pytest

from tinydeploy.lower import requantise
from tinydeploy.lower.requantise import Scaling, affine_records, solve


def scaling(rng, channels=6, *, ratio=(-12, -3), reach=4000, bias=3000, zero=None, act=None, rounding="double"):
    """A layer of random channels whose accumulators are few enough to try all."""
    low, high = act or (-128, 127)
    return Scaling(
        bias=rng.integers(-bias, bias + 1, channels),
        ratio=np.exp2(rng.uniform(*ratio, channels)),
        low=-rng.integers(0, reach, channels),
        high=rng.integers(0, reach, channels),
        zero_point=int(rng.integers(-128, 128)) if zero is None else zero,
        act_min=low,
        act_max=high,
        rounding=rounding,
    )


def result(found, s, channel, acc):
    """What the C does with the records."""
    record = found.records[channel]
    if found.form == "exact":
        one = Scaling(*(v[channel : channel + 1] for v in (s.bias, s.ratio, s.low, s.high)), *_rest(s))
        assert record["bias"] == s.bias[channel]
        assert (record["m"], record["shift"]) == (s.multiplier[channel], s.shift[channel])
        return one.output(acc[None])[0]
    c = (int(record["c_hi"]) << 32) + int(record["c_lo"])
    bits = int(record["shift"]) if found.form == "wide" else 32 + found.shift
    y = [min(max((int(a) * int(record["m"]) + c) >> bits, s.act_min), s.act_max) for a in acc]
    return np.array(y)


def _rest(s):
    return s.zero_point, s.act_min, s.act_max, s.rounding


def check(s):
    found = solve(s)
    assert found is not None
    for channel in range(len(s.bias)):
        acc = np.arange(s.low[channel], s.high[channel] + 1)
        one = Scaling(*(v[channel : channel + 1] for v in (s.bias, s.ratio, s.low, s.high)), *_rest(s))
        assert np.array_equal(result(found, s, channel, acc), one.output(acc[None])[0]), (found.note, channel)
    return found


@pytest.mark.parametrize("seed", range(8))
def test_relu_layers_are_affine_on_every_accumulator(seed):
    found = check(scaling(np.random.default_rng(seed), zero=-128))
    assert found.affine
    assert found.records.dtype.itemsize == 12


@pytest.mark.parametrize("seed", range(8))
def test_any_layer_is_exact_on_every_accumulator(seed):
    check(scaling(np.random.default_rng(seed)))


@pytest.mark.parametrize("seed", range(8))
def test_rounding_once_is_always_affine(seed):
    rng = np.random.default_rng(seed)
    assert check(scaling(rng, rounding="once")).affine


def test_ratios_above_a_half_rounded_once_take_a_shift_a_channel():
    rng = np.random.default_rng(3)
    found = check(scaling(rng, ratio=(-20, 10), reach=600, rounding="once"))
    assert found.form == "wide"


@pytest.mark.parametrize("act", [(-20, 30), (5, 5), (7, 3), (-128, -128), (127, 127)])
def test_clamps_inside_and_empty_ones(act):
    rng = np.random.default_rng(4)
    check(scaling(rng, act=act))
    check(scaling(rng, act=act, rounding="once"))


@pytest.mark.parametrize("seed", range(4))
def test_shift_zero_left_shifts_and_tiny_multipliers(seed):
    rng = np.random.default_rng(seed)
    check(scaling(rng, ratio=(-2, 4), reach=300, bias=100))
    check(scaling(rng, ratio=(-45, -20)))


@pytest.mark.parametrize("size", [2**30, 2**31 - 5000])
def test_large_biases(size):
    rng = np.random.default_rng(5)
    s = scaling(rng, ratio=(-26, -20), bias=0)
    s.bias[:] = rng.choice([-size, size], len(s.bias))
    check(s)


def test_sums_that_wrap_keep_tflites_arithmetic():
    rng = np.random.default_rng(6)
    s = scaling(rng)
    s.bias[0] = 2**31 - 10
    assert not s.is_plain()
    assert solve(s).form == "exact"


def test_sums_that_wrap_and_are_rounded_once_have_no_form():
    rng = np.random.default_rng(6)
    s = scaling(rng, rounding="once")
    s.bias[0] = 2**31 - 10
    assert solve(s) is None


def test_a_channel_of_one_accumulator():
    rng = np.random.default_rng(7)
    s = scaling(rng, reach=1)
    assert (s.low == s.high).all()
    check(s)


def test_a_fixed_shift_is_proved_or_refused():
    rng = np.random.default_rng(8)
    s = scaling(rng, zero=-128, ratio=(-9, -4))
    for shift in (0, 2, 5):
        records = affine_records(s, shift)
        if records is not None:
            check_records(s, records, shift)
    assert affine_records(scaling(rng, ratio=(1, 2), reach=300, bias=0, zero=0), 2) is None


def check_records(s, records, shift):
    found = requantise.Requant("affine", records, shift, "")
    for channel in range(len(s.bias)):
        acc = np.arange(s.low[channel], s.high[channel] + 1)
        one = Scaling(*(v[channel : channel + 1] for v in (s.bias, s.ratio, s.low, s.high)), *_rest(s))
        assert np.array_equal(result(found, s, channel, acc), one.output(acc[None])[0])


def test_two_thousand_channels_take_about_a_second():
    import time

    rng = np.random.default_rng(9)
    s = scaling(rng, 2000, zero=-128, ratio=(-11, -7), reach=300_000, bias=20_000)
    start = time.process_time()
    assert solve(s).affine
    assert time.process_time() - start < 5
