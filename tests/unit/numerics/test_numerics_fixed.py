"""Fixed-point functions against real ones."""

import numpy as np
import pytest

from tinydeploy.numerics.fixed import exp_on_negative_values, one_over_one_plus_x, reciprocal


@pytest.mark.parametrize("integer_bits", [0, 1, 4, 5])
def test_exp(integer_bits):
    one = 2.0 ** (31 - integer_bits)
    raw = np.unique(np.concatenate([-np.logspace(0, 31, 4000, base=2), [-(2**31), -1, 0]]).astype(np.int64))
    got = exp_on_negative_values(raw, integer_bits) / 2.0**31
    np.testing.assert_allclose(got, np.exp(raw / one), atol=4e-7)


def test_exp_of_zero_is_the_largest():
    assert exp_on_negative_values(0, 5) == 2**31 - 1


def test_one_over_one_plus_x():
    raw = np.linspace(0, 2**31 - 1, 5001).astype(np.int64)
    np.testing.assert_allclose(one_over_one_plus_x(raw) / 2.0**31, 1 / (1 + raw / 2.0**31), atol=2e-8)


def test_reciprocal():
    raw = np.unique(np.logspace(0, 30.99, 3000, base=2).astype(np.int64))
    scale, bits = reciprocal(raw, 12)
    np.testing.assert_allclose(scale / 2.0**31 / 2.0**bits, 2.0**19 / raw, rtol=1e-7)
