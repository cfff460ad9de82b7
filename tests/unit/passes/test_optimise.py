"""What holds for all passes and for their order."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from tests.unit.passes.graphs import Maker, operators
from tinydeploy import passes
from tinydeploy.errors import InternalError, UsageError
from tinydeploy.ir.text import to_text


def test_every_pass_is_in_the_order_and_nothing_else_is() -> None:
    found = set()
    for info in pkgutil.iter_modules(passes.__path__):
        module = importlib.import_module(f"tinydeploy.passes.{info.name}")
        if not info.name.startswith("_") and hasattr(module, "run"):
            assert hasattr(module, "requires"), info.name
            assert hasattr(module, "ensures"), info.name
            assert "xact" in str(module.__doc__) or "rounding" in str(module.__doc__), info.name
            found.add(info.name)
    assert found == set(passes.names())


def small() -> Maker:
    make = Maker()
    make.done(make.relu(make.batch_norm(make.conv(make.input(1, 6, 6, 3), 2))))
    return make


def test_the_given_graph_is_not_changed() -> None:
    graph = small().graph
    before = to_text(graph)
    assert operators(passes.optimise(graph)) == ["conv2d"]
    assert to_text(graph) == before


def test_dump_after() -> None:
    texts: list[str] = []
    better = passes.optimise(small().graph, dump_after="fuse_clamp", dump=texts.append)
    assert texts == [to_text(better)]
    passes.optimise(small().graph, dump_after="expand_batch_norm", dump=texts.append)
    assert len(texts) == 2


def test_an_unknown_pass_lists_all() -> None:
    with pytest.raises(UsageError, match="fuse_clamp"):
        passes.optimise(small().graph, dump_after="no_such_pass")


def test_a_pass_that_breaks_the_graph_is_named(monkeypatch) -> None:
    from tinydeploy.passes import fold_pad

    def breaks(graph) -> bool:
        graph.nodes[0].inputs = ("nobody", *graph.nodes[0].inputs[1:])
        return True

    monkeypatch.setattr(fold_pad, "run", breaks)
    with pytest.raises(InternalError, match="after fold_pad"):
        passes.optimise(small().graph)


def test_endless_rewriting_is_stopped(monkeypatch) -> None:
    from tinydeploy.passes import fold_pad

    monkeypatch.setattr(fold_pad, "run", lambda graph: True)
    with pytest.raises(InternalError, match="come to rest"):
        passes.optimise(small().graph)
