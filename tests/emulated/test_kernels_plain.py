"""The kernels of cores without SIMD equal the twin on those cores, where their blocks are assembly."""

import numpy as np
import pytest

from tests.conformance import wide_cases
from tests.conftest import need_tool
from tests.emulated.kernel_board import run

BOARDS = {"cortex-m3": "mps2-an385", "cortex-m0": "microbit-large", "cortex-m4f": "mps2-an386"}
KERNELS = {
    "conv2d_pairs": wide_cases.convolutions,
    "depthwise_groups": wide_cases.depthwises,
    "depthwise_columns": wide_cases.depthwises,
    "fully_connected_octets": wide_cases.vectors,
}


def named(kernel):
    """The offer of that kernel; where it has none, whatever there is."""
    return lambda offers: next((offer for offer in offers if offer.kernel.startswith(kernel)), offers[-1])


def quickest(offers):
    """What `lower` would choose."""
    return min(offers, key=lambda offer: offer.cost.cycles)


@pytest.mark.qemu
@pytest.mark.parametrize("cpu", BOARDS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_kernel(kernel, cpu, tmp_path):
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    run(KERNELS[kernel](21), cpu, BOARDS[cpu], tmp_path, named(kernel))


@pytest.mark.qemu
def test_sextets(tmp_path):
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    cases = [*wide_cases.vectors(25), wide_cases.dense(np.random.default_rng(1), "several stretches", 900, 7)]
    run(cases, "cortex-m0", BOARDS["cortex-m0"], tmp_path, named("fully_connected_sextets"), optimize="speed")


@pytest.mark.qemu
@pytest.mark.parametrize("opt", ["-O0", "-Os", "-O3"])
def test_optimisations(opt, tmp_path):
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    cases = [case for kernel in KERNELS for case in KERNELS[kernel](22)[::3]]
    run(cases, "cortex-m3", BOARDS["cortex-m3"], tmp_path, quickest, opt)


@pytest.mark.qemu
@pytest.mark.slow
@pytest.mark.parametrize("cpu", BOARDS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("seed", [23, 24])
def test_more(kernel, cpu, seed, tmp_path):
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    run(KERNELS[kernel](seed), cpu, BOARDS[cpu], tmp_path, named(kernel))
