"""Access plans of windows cover what a naive walk over all taps touches, and no more than a hull."""

import numpy as np
import pytest

from tinydeploy.lower._rows import Plane, split_inner, split_row


def random_plane(rng):
    kernel = tuple(int(k) for k in rng.integers(1, 5, 2))
    stride = tuple(int(k) for k in rng.integers(1, 4, 2))
    dilation = tuple(int(k) for k in rng.integers(1, 4, 2))
    pads = rng.integers(0, 6, 4)
    size = [int(rng.integers(1, 12)) for _ in range(2)]
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    size = [
        max(n, s - int(pads[2 * i]) - int(pads[2 * i + 1]), 1) for i, (n, s) in enumerate(zip(size, span, strict=True))
    ]
    out = [(size[i] + int(pads[2 * i] + pads[2 * i + 1]) - span[i]) // stride[i] + 1 for i in range(2)]
    return Plane(size[0], size[1], 3, out[0], out[1], 2, kernel, stride, dilation, (int(pads[0]), int(pads[2])))


def touched(plane, y, first, end):
    """Bytes of the input that output columns first..end-1 of row y read."""
    found = set()
    for x in range(first, end):
        for ky in range(plane.kernel[0]):
            for kx in range(plane.kernel[1]):
                row = y * plane.stride[0] - plane.pad[0] + ky * plane.dilation[0]
                column = x * plane.stride[1] - plane.pad[1] + kx * plane.dilation[1]
                if 0 <= row < plane.in_height and 0 <= column < plane.in_width:
                    at = row * plane.in_row + column * plane.in_channels
                    found.update(range(at, at + plane.in_channels))
    return found


@pytest.mark.parametrize("seed", range(40))
def test_spans_are_hulls_of_what_is_read(seed):
    rng = np.random.default_rng(seed)
    plane = random_plane(rng)
    blocks = split_row(plane.out_width, int(rng.integers(1, 5)))
    access = plane.access(blocks, reads_first=True)
    step = 0
    for y in range(plane.out_height):
        for first, end in blocks:
            read = touched(plane, y, first, end)
            low, high = int(access.reads[0].low[step]), int(access.reads[0].high[step])
            assert not read or (low <= min(read) and high > max(read))
            assert read or low >= high or (low >= 0 and high <= plane.in_height * plane.in_row)
            assert access.writes[0].low[step] == y * plane.out_row + first * plane.out_channels
            assert access.writes[0].high[step] == y * plane.out_row + end * plane.out_channels
            step += 1
    assert step == len(access.reads[0].low)


@pytest.mark.parametrize("seed", range(40))
def test_inner_columns_are_those_inside_the_row(seed):
    plane = random_plane(np.random.default_rng(seed))
    begin, end = plane.inner()
    for x in range(plane.out_width):
        left = x * plane.stride[1] - plane.pad[1]
        inside = left >= 0 and left + (plane.kernel[1] - 1) * plane.dilation[1] < plane.in_width
        assert inside == (begin <= x < end)


@pytest.mark.parametrize("seed", range(40))
def test_pad_rows_are_asked_for_when_needed(seed):
    plane = random_plane(np.random.default_rng(seed))
    rows = [
        y * plane.stride[0] - plane.pad[0] + k * plane.dilation[0]
        for y in range(plane.out_height)
        for k in range(plane.kernel[0])
    ]
    assert plane.needs_pad_row() or all(0 <= row < plane.in_height for row in rows)


def test_a_plane_of_one_column_becomes_a_row():
    plane = Plane(30, 1, 40, 28, 1, 40, (3, 1), (1, 1), (1, 1), (0, 0)).simplest()
    assert (plane.in_height, plane.in_width, plane.out_width, plane.kernel) == (1, 30, 28, (1, 3))


def test_blocks():
    assert split_row(5, 2) == [(0, 2), (2, 4), (4, 5)]
    assert split_inner(7, 4, 1, 7) == [(0, 1), (1, 5), (5, 6), (6, 7)]
