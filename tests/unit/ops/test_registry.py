"""What every operator promises, checked on all of them."""

import dataclasses
import re
from pathlib import Path

import pytest

from tinydeploy import ops
from tinydeploy.ops import registry
from tinydeploy.ops._op import Op

ARCHITECTURE = Path(__file__).resolve().parents[3] / "docs" / "architecture.md"


def test_the_table_of_operators_is_what_the_folder_holds():
    rows = re.findall(r"^\| ((?:`\w+` ?)+)\|", ARCHITECTURE.read_text(), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"\w+", row)}
    assert named == set(registry())


@pytest.mark.parametrize("name", registry())
def test_operator(name):
    cls = registry()[name]
    op = cls()
    assert op.name == name
    assert dataclasses.is_dataclass(op)
    assert hash(op) == hash(cls())
    assert "Source:" in (cls.__doc__ or "")
    assert set(op.attributes()) == {field.name for field in dataclasses.fields(op)}
    assert cls.rules
    assert cls.reference is not Op.reference
    assert (cls.integer is not Op.integer) or not cls.quant.integer


@pytest.mark.parametrize("name", registry())
def test_rules_are_safe_on_anything(name):
    """Hostile files end in rules: no types, however strange, may raise anything but a list of broken rules."""
    from tinydeploy.ir.types import Elem, Type

    kinds = [None, Type((), Elem.F32), Type((0,), Elem.S8), Type((2, 3, 4), Elem.BOOL), Type((1, 2, 3, 4, 5), Elem.S64)]
    op = registry()[name]()
    for count in range(4):
        for kind in kinds:
            assert isinstance(op.broken_rules((kind,) * count), list)


def test_registry_is_lazy_and_one():
    assert ops.registry() is ops.registry()
