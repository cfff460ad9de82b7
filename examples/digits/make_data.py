"""Cuts scikit-learn's handwritten digits into training, calibration and evaluation sets. Needs no TensorFlow."""

from __future__ import annotations

import argparse
import pathlib

import numpy as np
import numpy.typing as npt

SEED = 0
EVALUATION = 500
CALIBRATION = 100

Set = tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]


def split() -> tuple[Set, Set, Set]:
    """Return (training, calibration, evaluation), each (x float32 [n, 8, 8, 1] in 0..1, y int64 [n]).

    The evaluation set is disjoint from the other two; the calibration set is a part of the training set.
    All are stratified by digit, and the same on every machine.
    """
    from sklearn.datasets import load_digits

    digits = load_digits()
    x = (digits.images / 16.0).astype(np.float32)[..., np.newaxis]
    y = digits.target.astype(np.int64)
    order = _interleaved(y)
    held_out, rest = order[:EVALUATION], order[EVALUATION:]
    few = rest[:CALIBRATION]
    return (x[rest], y[rest]), (x[few], y[few]), (x[held_out], y[held_out])


def _interleaved(y: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """All indices, shuffled within each class and dealt so that every prefix holds the classes in equal shares."""
    generator = np.random.default_rng(SEED)
    rank = np.empty(len(y))
    for digit in np.unique(y):
        where = generator.permutation(np.flatnonzero(y == digit))
        rank[where] = (np.arange(len(where)) + 0.5) / len(where)
    return np.lexsort((y, rank))


def main() -> None:
    """Write digits_calibration.npz and digits_eval.npz."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    folder: pathlib.Path = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    _, calibration, evaluation = split()
    for name, (x, y) in (("digits_calibration", calibration), ("digits_eval", evaluation)):
        np.savez_compressed(folder / f"{name}.npz", x=x, y=y)
        print(f"{name}.npz: {len(x)} samples, {np.bincount(y, minlength=10).tolist()} a digit")


if __name__ == "__main__":
    main()
