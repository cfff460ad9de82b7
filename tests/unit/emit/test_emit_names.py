"""Whatever a model calls its parts, plain words reach C."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinydeploy.emit.names import LONGEST, Namer, comment, mangle, model_name

HOSTILE = [
    "int",
    "string",
    "3d-net",
    "",
    "模型",
    "*/ int evil; /*",
    'a"; rm -rf / #',
    "../../etc/passwd",
    "$(reboot)",
    "td_conv2d",
    "TD",
    "x" * 500,
    "__attribute__",
    "a\nb",
    "COM1",
    "main",
    "naïve model.v2",
    "??/",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_model_name_is_an_identifier_and_no_header(text):
    name = model_name(text)
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name)
    assert name.lower() not in {"int", "string", "td", "main", "com1"}
    assert not name.lower().startswith("td_")
    assert model_name(name) == name


def test_good_names_stay_as_they_are():
    assert [model_name(n) for n in ("kws", "ic_resnet8", "Net2")] == ["kws", "ic_resnet8", "Net2"]


@given(st.text())
def test_mangled_text_is_plain(text):
    assert re.fullmatch(r"[A-Za-z0-9_]+", mangle(text))
    assert len(mangle(text)) <= LONGEST


@given(st.lists(st.one_of(st.text(max_size=6), st.sampled_from(["a", "A", "a.b", "a/b", "a_b", "1", "0", "a_b_2"]))))
def test_given_names_are_unique_without_case_and_never_a_number(texts):
    namer = Namer()
    names = [namer.give(text) for text in texts]
    assert len({name.lower() for name in names}) == len(names)
    assert not any(name.isdigit() for name in names)


@given(st.text())
def test_a_comment_ends_nothing(text):
    shown = comment(text)
    assert "*/" not in f"/* {shown}*/"[:-2]
    assert "/*" not in shown
    assert "??" not in shown
    assert "//" not in shown
    assert "\\" not in shown
    assert shown.isprintable()
    assert shown.isascii()
    assert len(shown) <= 80
