"""Metrics of two models on the same samples, and their paired intervals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tinydeploy.errors import InputError, UsageError
from tinydeploy.metrics import evaluate, within

LABELS = np.array([0, 1, 2, 2])
SCORES = np.array([[3, 1, 0], [0, 5, 1], [1, 2, 0], [0, 1, 2]], np.float32)  # right, right, third, right
WORSE = np.array([[1, 3, 0], [0, 5, 1], [1, 2, 0], [0, 1, 2]], np.float32)  # second, right, third, right
NONE = np.zeros((4, 1), np.float32)


def test_top1_in_points_with_a_paired_interval() -> None:
    result = evaluate("top1", SCORES, WORSE, LABELS, NONE)
    assert (result["float"], result["quantised"], result["drop"]) == (75, 50, 25)
    differences = np.array([100.0, 0, 0, 0])
    half = 1.959964 * differences.std(ddof=1) / 2
    assert result["interval"] == pytest.approx([25 - half, 25 + half])
    assert result["unit"] == "points"


@pytest.mark.parametrize("shape", [(4, 3), (4, 1, 3), (4, 1, 1, 1, 3), (4, 1, 3, 1, 1)])
def test_axes_of_length_one_do_not_matter(shape: tuple[int, ...]) -> None:
    assert evaluate("top1", SCORES.reshape(shape), WORSE.reshape(shape), LABELS, NONE)["drop"] == 25


def test_topk() -> None:
    assert evaluate("topk:2", SCORES, WORSE, LABELS, NONE)["float"] == 75
    assert evaluate("topk:3", SCORES, WORSE, LABELS, NONE)["quantised"] == 100


def test_equal_scores_go_to_the_lower_class() -> None:
    flat = np.zeros((2, 3), np.float32)
    assert evaluate("top1", flat, flat, np.array([0, 1]), NONE[:2])["float"] == 50


def test_one_hot_labels_and_float_class_numbers() -> None:
    assert evaluate("top1", SCORES, WORSE, np.eye(3)[LABELS], NONE)["float"] == 75
    assert evaluate("top1", SCORES, WORSE, LABELS.astype(np.float64), NONE)["float"] == 75


def test_one_output_is_the_probability_of_class_1() -> None:
    scores = np.array([[0.2], [0.9], [0.6]])
    assert evaluate("top1", scores, scores, np.array([0, 1, 0]), NONE[:3])["float"] == pytest.approx(200 / 3)


def test_sequences_by_last_step_or_by_every_step() -> None:
    steps = np.stack([SCORES[::-1], SCORES], axis=1)[:, :, None]
    assert evaluate("top1", steps, steps, LABELS, NONE)["float"] == 75
    each = np.stack([LABELS[::-1], LABELS], axis=1)
    assert evaluate("top1", steps, steps, each, NONE)["float"] == 75


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        (None, "needs labels"),
        (np.array([0, 1, 3, 2]), "0 to 2"),
        (np.array([0, 1, -1, 2]), "0 to 2"),
        (np.array([0, 1, 0.5, 2]), "0 to 2"),
        (np.array([0, 1]), "2 labels for 4 samples"),
        (np.array(["a"] * 4), "labels are <U1"),
        (np.array([0, 1, np.nan, 2]), "not finite"),
    ],
)
def test_labels_that_do_not_fit(labels: np.ndarray | None, text: str) -> None:
    with pytest.raises(InputError, match=text):
        evaluate("top1", SCORES, WORSE, labels, NONE)


@pytest.mark.parametrize(
    "spec", ["top2", "topk", "topk:0", "topk:x", "auc-reconstruction", "auc-reconstruction:-1", "", "f1"]
)
def test_unknown_specs(spec: str) -> None:
    with pytest.raises(UsageError, match="topk:K"):
        evaluate(spec, SCORES, WORSE, LABELS, NONE)


def test_auc_counts_pairs_and_ties_half() -> None:
    labels = np.array([0, 0, 1, 1])
    scores = np.array([[0.1], [0.4], [0.4], [0.8]])
    assert evaluate("auc", scores, -scores, labels, NONE)["float"] == 87.5
    assert evaluate("auc", scores, -scores, labels, NONE)["quantised"] == 12.5
    two = np.concatenate([1 - scores, scores], axis=1)
    assert evaluate("auc", two, two, labels, NONE)["float"] == 87.5


def test_auc_interval_is_seeded_and_holds_the_drop() -> None:
    random = np.random.default_rng(0)
    labels = np.repeat([0, 1], 60)
    first = labels + random.normal(0, 0.8, 120)
    second = first + random.normal(0, 0.3, 120)
    results = [evaluate("auc", first[:, None], second[:, None], labels, NONE) for _ in range(2)]
    assert results[0] == results[1]
    low, high = results[0]["interval"]
    assert low < results[0]["drop"] < high


def test_auc_reconstruction_by_group() -> None:
    random = np.random.default_rng(0)
    inputs = random.normal(0, 1, (12, 1, 6)).astype(np.float32)
    labels = np.array([0, 0, 1, 1])
    noise = np.repeat([0.1, 0.1, 0.5, 0.5], 3)[:, None, None]
    outputs = inputs + noise * random.normal(0, 1, inputs.shape)
    assert evaluate("auc-reconstruction:3", outputs, outputs, labels, inputs)["float"] == 100
    assert evaluate("auc-reconstruction:3", outputs, outputs, np.repeat(labels, 3), inputs)["float"] == 100
    with pytest.raises(InputError, match="multiple of 5"):
        evaluate("auc-reconstruction:5", outputs, outputs, labels, inputs)
    with pytest.raises(InputError, match="0 and 1"):
        evaluate("auc-reconstruction:3", outputs, outputs, np.zeros(4), inputs)
    with pytest.raises(InputError, match="3 labels for 4 scores"):
        evaluate("auc-reconstruction:3", outputs, outputs, np.array([0, 1, 1]), inputs)


def test_mse_to_targets_and_to_the_float_outputs() -> None:
    target = np.zeros((4, 3))
    result = evaluate("mse", np.full((4, 1, 3), 1.0), np.full((4, 1, 3), 2.0), target, NONE)
    assert (result["float"], result["quantised"], result["drop"], result["unit"]) == (1, 4, 3, "raw")
    alone = evaluate("mse", SCORES, WORSE, None, NONE)
    assert alone["float"] == 0
    assert alone["drop"] == pytest.approx(8 / 12)
    with pytest.raises(InputError, match="target values"):
        evaluate("mse", SCORES, WORSE, np.zeros(4), NONE)


def test_cosine() -> None:
    result = evaluate("cosine", SCORES, np.zeros_like(SCORES), SCORES, NONE)
    assert result["float"] == pytest.approx(1)
    assert evaluate("cosine", SCORES, WORSE, None, NONE)["drop"] > 0


def test_the_users_own_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_metric.py").write_text(
        "def rows(outputs, labels, inputs):\n    return outputs.reshape(len(outputs), -1)[:, 0]\n"
        "def total(outputs, labels, inputs):\n    return outputs.mean()\n"
        "def wrong(outputs, labels, inputs):\n    return outputs\n"
        "number = 3\n"
    )
    monkeypatch.chdir(tmp_path)
    by_row = evaluate("own_metric:rows", SCORES, WORSE, None, NONE)
    assert by_row["drop"] == pytest.approx(0.5)
    whole = evaluate("own_metric.py:total", SCORES, SCORES - 1, None, NONE)
    assert whole["interval"] == pytest.approx([1, 1])
    for spec in ("own_metric:wrong", "own_metric:number", "own_metric:nothing", "no_such_module:f", "no.py:f"):
        with pytest.raises(UsageError, match=spec):
            evaluate(spec, SCORES, WORSE, None, NONE)


def test_within_a_goal() -> None:
    assert within({"drop": 0.4, "interval": [0.3, 0.5]}, 0.5)
    assert within({"drop": 0.9, "interval": [0.2, 1.6]}, 0.5)
    assert not within({"drop": 0.9, "interval": [0.6, 1.2]}, 0.5)
