"""ONNX's own test cases as generated C: all that are in scope pass, but for those listed with reasons."""

from __future__ import annotations

import pytest

from tests.conformance import onnx_nodes
from tests.conformance.onnx_cases import IN_SCOPE
from tests.conftest import need_module, need_tool


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    need_tool("gcc")
    need_module("onnx")
    return onnx_nodes.run(onnx_nodes.chosen(), tmp_path_factory.mktemp("onnx"))


def test_every_case_passes_that_is_not_an_exception(outcomes):
    known = onnx_nodes.exceptions()
    failed = {o.case.name: o.reason for o in outcomes if o.reason and o.case.verdict == IN_SCOPE}
    assert {name: reason for name, reason in failed.items() if name not in known} == {}


def test_exceptions_are_cases_that_fail(outcomes):
    passed = {o.case.name for o in outcomes if not o.reason}
    names = {o.case.name for o in outcomes}
    known = set(onnx_nodes.exceptions())
    assert known & passed == set(), "they pass now: take them off the list"
    assert known <= names


def test_cases_that_pass_are_the_share_that_is_promised(outcomes):
    scope = [o for o in outcomes if o.case.verdict == IN_SCOPE and o.case.suite == "node"]
    assert sum(not o.reason for o in scope) >= 0.97 * len(scope)
