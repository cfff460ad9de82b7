"""What is said about calibration data that will not do, and that nothing is said about data that will."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.quant.quant_graphs import Maker
from tinydeploy.ir import Graph
from tinydeploy.quant import lint, quantise


def classifier(classes: int = 4) -> tuple[Graph, Maker]:
    make = Maker()
    x = make.input(1, 6, 6, 3)
    x = make.node("mean", make.conv(x, 8), axes=(1, 2), keep_dims=False)
    return make.done(make.node("softmax", make.dense(x, classes), axis=1)), make


def good(count: int = 60) -> dict[str, np.ndarray]:
    return {"in": np.random.default_rng(0).normal(0, 1, (count, 1, 6, 6, 3)).astype(np.float32)}


def said(feeds: dict[str, np.ndarray]) -> str:
    return "\n".join(lint.warnings(classifier()[0], feeds))


def test_good_data_are_not_complained_about() -> None:
    assert said(good()) == ""


def test_few_samples() -> None:
    assert "only 3 samples" in said(good(3))


def test_copies() -> None:
    one = good(1)["in"]
    assert "all 20 samples are the same" in said({"in": np.repeat(one, 20, axis=0)})
    assert "10 of 70 samples are copies" in said({"in": np.concatenate([good()["in"], good()["in"][:10]])})


def test_constant_samples_and_channels() -> None:
    feeds = good()
    feeds["in"][4] = 0.5
    assert "one and the same value throughout in 1 of 60" in said(feeds)
    feeds = good()
    feeds["in"][..., 1] = 2.0
    assert "never changes at 1 of its last axis" in said(feeds)


def test_wide_dense_layers_want_more_samples() -> None:
    make = Maker()
    make.done(make.dense(make.input(1, 640), 8))
    few = {"in": make.random.normal(0, 1, (50, 1, 640)).astype(np.float32)}
    many = {"in": make.random.normal(0, 1, (300, 1, 640)).astype(np.float32)}
    assert "50 vectors for the 640 inputs" in "\n".join(lint.warnings(make.graph, few))
    assert lint.warnings(make.graph, many) == []


@pytest.mark.parametrize(
    ("votes", "text"),
    [
        ([2] * 40, "says class 2 for all 40 samples"),
        ([0, 1, 2] * 20, "finds none of class 3 in 60 samples"),
        ([0] * 30 + [1, 2, 3] * 5, "30 of 45 samples are class 0"),
        ([0, 1, 2, 3] * 10, ""),
        ([0] * 5, ""),
    ],
)
def test_classes(votes: list[int], text: str) -> None:
    graph, _ = classifier()
    found = lint.class_warnings(graph, {graph.outputs[0]: np.array(votes)}, good())
    assert (text in found[0]) if text else found == []


def test_raw_pixels_are_suspected_where_only_one_class_is_seen() -> None:
    graph, _ = classifier()
    pixels = {"in": np.random.default_rng(0).integers(0, 256, (40, 1, 6, 6, 3)).astype(np.float32)}
    (text,) = lint.class_warnings(graph, {graph.outputs[0]: np.zeros(40, int)}, pixels)
    assert "--input-scale in=0.00392157,0" in text


def test_autoencoders_have_no_classes() -> None:
    make = Maker()
    make.done(make.dense(make.dense(make.input(1, 16), 4), 16))
    assert lint.class_warnings(make.graph, {make.graph.outputs[0]: np.zeros(40, int)}, {}) == []


def test_warnings_end_up_in_the_graph() -> None:
    graph, _ = classifier()
    result = quantise(graph, "int8", good(2))
    assert any("only 2 samples" in text for text in result.warnings)
    assert graph.warnings == []
