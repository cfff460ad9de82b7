"""The tables of the TFLite schema agree with the schema that LiteRT installs: names, numbers, field order, defaults."""

import inspect
import re

import pytest

from tests.conftest import need_module
from tinydeploy.frontends.tflite_schema import ACTIVATIONS, BUILTINS, ELEMENT_NAMES, OPTIONS, OPTIONS2, PADDINGS

CODES = {"b": "Int8", "i": "Int32", "I": "Uint32", "q": "Int64", "f": "Float32", "?": "Bool"}


def _schema():
    need_module("ai_edge_litert")
    from ai_edge_litert import schema_py_generated

    return schema_py_generated


def _numbers(enum) -> dict[int, str]:
    return {number: name for name, number in vars(enum).items() if isinstance(number, int)}


@pytest.mark.parametrize(
    ("names", "enum"),
    [
        (BUILTINS, "BuiltinOperator"),
        (ELEMENT_NAMES, "TensorType"),
        (ACTIVATIONS, "ActivationFunctionType"),
        (PADDINGS, "Padding"),
    ],
)
def test_names(names, enum):
    numbers = _numbers(getattr(_schema(), enum))
    assert [numbers[i] for i in range(len(names))] == list(names)
    assert len(numbers) == len(names)


def _fields(table) -> list[tuple[str, str] | None]:
    """(flag of the number, default) of each field of a generated class, in slot order; None for a deprecated one."""
    found = {}
    for name, method in vars(table).items():
        if not inspect.isfunction(method) or name.endswith(("AsNumpy", "Length", "IsNone")):
            continue
        text = inspect.getsource(method)
        slot = re.search(r"_tab\.Offset\((\d+)\)", text)
        if slot:
            flags = re.findall(r"number_types\.(\w+)Flags, ", text.split(slot[0])[1])
            kind = "string" if "self._tab.String" in text else "vector" if "Vector(" in text else flags[0]
            found[int(slot[1])] = (kind, re.findall(r"return (.+)", text)[-1])
    return [found.get(slot) for slot in range(4, max(found, default=0) + 2, 2)]


@pytest.mark.parametrize(("tables", "union"), [(OPTIONS, "BuiltinOptions"), (OPTIONS2, "BuiltinOptions2")])
def test_options(tables, union):
    schema = _schema()
    numbers = _numbers(getattr(schema, union))
    assert {number for number, _ in tables.values()} == set(numbers) - {0}
    for operator, (number, fields) in tables.items():
        theirs = _fields(getattr(schema, numbers[number]))
        for (name, code, default), field in zip(fields, theirs, strict=False):
            if field is None:
                continue
            kind, given = field
            if code == "s" or len(code) > 1:
                assert kind == ("string" if code == "s" else "vector"), (operator, name)
            else:
                assert CODES[code] == kind, (operator, name)
                assert float({"True": 1, "False": 0}.get(given, given)) == default, (operator, name)
        assert len(fields) <= len(theirs), operator
        assert set(tables) <= set(BUILTINS)
