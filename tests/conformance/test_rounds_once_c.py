"""Convolutions that round once from the real ratio of scales equal the twin, in row kernels and general ones."""

import dataclasses

import numpy as np
import pytest

from tests.conformance import linear_cases
from tests.conformance.harness import Case, check
from tinydeploy.ir import Quant
from tinydeploy.lower import offers_for, target_for
from tinydeploy.lower._contract import LowerContext


def once(case: Case) -> Case:
    node = case.graph.nodes[0]
    node.op = dataclasses.replace(node.op, exact_scale=True)
    return case


def apart(case: Case) -> Case:
    """With scales of the channels so far apart that one shift does not serve them all."""
    value = case.graph.values[str(case.graph.nodes[0].inputs[1])]
    quant = value.type.quant
    assert quant is not None
    scales = np.asarray(quant.scale) * np.exp2(-22.0 * (np.arange(len(quant.scale)) % 2))
    value.type = dataclasses.replace(value.type, quant=Quant.per_channel(scales, quant.axis or 0))
    return case


def cases(seed: int) -> list[Case]:
    rng = np.random.default_rng(seed)
    made = [once(linear_cases.conv(rng, f"conv {i}")) for i in range(8)]
    made += [once(linear_cases.depthwise(rng, f"depthwise {i}")) for i in range(8)]
    made += [once(apart(linear_cases.conv(rng, f"apart {i}", outputs=4))) for i in range(6)]
    made += [once(apart(linear_cases.depthwise(rng, f"depthwise apart {i}", channels=4))) for i in range(6)]
    return made


def kernels(case: Case, cpu: str) -> set[str]:
    return {offer.kernel for offer in offers_for(LowerContext(case.graph, case.graph.nodes[0], target_for(cpu)))}


@pytest.mark.parametrize("cpu", ["host", "cortex-m0", "cortex-m4", "cortex-m55"])
def test_equals_the_twin(tmp_path, cpu):
    made = cases(3)
    used = set().union(*(kernels(case, cpu) for case in made))
    assert {"conv_nd_s8_wide", "depthwise_nd_s8_wide"} <= used, used
    assert len(used) > 2
    defines = ("TD_NO_ASM", "TD_NO_LONG_MUL") if cpu == "cortex-m0" else ("TD_NO_ASM",)
    check(made, tmp_path, cpu=cpu, defines=defines if cpu != "host" else ())
