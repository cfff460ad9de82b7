"""Outputs of a model that depend on no input: copied from flash, equal to the twin."""

import numpy as np

from tests.conformance.harness import check, one_node
from tinydeploy.ir import Elem, Type
from tinydeploy.ops.reshape import Reshape
from tinydeploy.ops.strided_slice import StridedSlice


def test_constants_of_every_width(tmp_path):
    rng = np.random.default_rng(0)
    reverse = StridedSlice(begin=(3,), end=(-1,), stride=(-1,))
    cases = [one_node("of an input", reverse, [Type((4,), Elem.S8)], [None], rng)]  # the harness wants one
    for elem in (Elem.S8, Elem.BOOL, Elem.S16, Elem.F32, Elem.S64):
        for shape, other in (((2, 3), (6,)), ((), ()), ((1,), ())):
            constant = Type(shape, elem), rng.integers(0, 2, shape).astype(elem.dtype)
            cases.append(one_node(f"{elem.value}{shape}", Reshape(shape=other), [constant], [None], rng))
    assert check(cases, tmp_path) >= len(cases)
