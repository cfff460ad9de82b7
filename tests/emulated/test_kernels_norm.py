"""Normalisations and recurrent layers equal their twins on cores with and without a float unit."""

import numpy as np
import pytest

from tests.conformance import test_norm_c, test_recurrent_c
from tests.conftest import need_tool
from tests.emulated.kernel_board import run
from tests.mlperf import BOARDS
from tinydeploy.ops.gru import Gru
from tinydeploy.ops.lstm import Lstm
from tinydeploy.ops.rnn import Rnn


def recurrent(rng):
    """Some options of each."""
    return [case for cls in (Lstm, Gru, Rnn) for case in test_recurrent_c.cases(rng, cls)[::3]]


CASES = {
    "softmax": lambda rng: test_norm_c.softmax_cases(rng)[::3],
    "lines": lambda rng: test_norm_c.line_cases(rng)[::7],
    "channels": test_norm_c.channel_cases,
    "integers": lambda rng: test_norm_c.integer_cases(rng)[::9],
    "recurrent": recurrent,
    "streaming": lambda rng: test_recurrent_c.integer_cases(rng)[::3] + test_recurrent_c.float_svdf_cases(rng)[::3],
}


@pytest.mark.qemu
@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m4f", "cortex-m55"])
@pytest.mark.parametrize("kind", CASES)
def test_equals_the_twin(kind, cpu, tmp_path):
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    cases = CASES[kind](np.random.default_rng(5))
    samples = min(len(data) for case in cases for data in case.feeds.values())
    for case in cases:
        case.feeds = {name: data[:samples] for name, data in case.feeds.items()}
    run(cases, cpu, BOARDS[cpu], tmp_path, lambda offers: offers[0])
