"""Numbers in C are the numbers that were meant."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinydeploy.emit import literals


def value_of(text: str) -> int:
    return eval(re.sub(r"U?INT64_C\((\d+)\)", r"\1", text).replace("u", ""))


@given(st.integers(-(2**63), 2**64 - 1))
def test_integers(value):
    assert value_of(literals.integer(value)) == value


@pytest.mark.parametrize("value", [0, 1, -1, 2**31 - 1, -(2**31), 2**31, 2**32 - 1, 2**32, -(2**63), 2**63 - 1])
def test_edges(value):
    assert value_of(literals.integer(value)) == value


def test_a_literal_has_the_type_its_value_needs():
    assert literals.integer(-(2**31)) == "(-2147483647 - 1)"
    assert literals.integer(2**31) == "2147483648u"
    assert literals.integer(-(2**40)) == "-INT64_C(1099511627776)"


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_floats_come_back_bit_for_bit(value):
    text = literals.real(value)
    assert text.endswith("f")
    assert "." in text or "e" in text
    assert np.float32(text[:-1]).tobytes() == np.float32(value).tobytes()


def test_infinities_and_nan():
    assert literals.real(float("inf")) == "(1.0f / 0.0f)"
    assert literals.real(float("-inf")) == "(-1.0f / 0.0f)"
    assert literals.real(float("nan")) == "(0.0f / 0.0f)"


def test_tables_are_sixteen_to_a_line_and_structs_stay_whole():
    lines = literals.table(np.arange(33, dtype=np.int8))
    assert [line.count(",") for line in lines] == [16, 16, 0]
    assert literals.table(np.array([[1, -2], [3, 4]], np.int64)) == ["    {1, -2}, {3, 4}"]
    assert literals.table(np.array([1, 2**32 - 1], np.uint32), "uint32_t") == ["    0x00000001u, 0xFFFFFFFFu"]
    assert all(len(line) <= 120 for line in literals.table(np.full(99, -(2**31), np.int32)))
