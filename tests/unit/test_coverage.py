"""The table of what is supported: made from the code, complete, and the one in docs/."""

from __future__ import annotations

import pytest

from tests.conftest import REPO
from tinydeploy import coverage
from tinydeploy.ops import registry

STATEFUL = {"svdf", "unidirectional_sequence_lstm"}  # their types follow from a whole file; tested with theirs


@pytest.mark.parametrize("name", sorted(registry()))
def test_every_operator_has_a_kernel_for_its_example(name) -> None:
    levels = coverage.levels(name)
    assert levels or name in STATEFUL, "add an example of it to coverage.py, or write a kernel"
    for level, classes in levels.items():
        assert set(classes) == set(coverage.CLASSES), f"{level} is not there for every CPU class"


@pytest.mark.parametrize("name", sorted(set(registry()) - {"conv3d"}))
def test_operators_that_say_they_have_integer_arithmetic_have_a_kernel(name) -> None:
    if registry()[name].quant.integer and name not in STATEFUL:
        assert set(coverage.levels(name)) - {"float32"}


@pytest.mark.parametrize("form", ["ONNX", "TFLite", "Keras"])
def test_operators_of_files_are_found_in_the_code(form) -> None:
    used = {theirs for forms in coverage.sources().values() for theirs in forms.get(form, [])}
    assert len(used) > 0.75 * len(coverage.file_operators()[form])


def test_the_document_is_up_to_date() -> None:
    assert (REPO / "docs" / "operators.md").read_text("utf-8") == coverage.document(), (
        "run `python -m tinydeploy ops --write docs/operators.md`"
    )
