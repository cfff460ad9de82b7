"""Negative controls: a plan that is wrong by one byte must be found, with node, step and byte."""

import dataclasses

import pytest

from tests.unit.plan.graphs import Builder, chain, rows
from tinydeploy.errors import InternalError
from tinydeploy.lower._contract import AccessPlan, elementwise, whole
from tinydeploy.plan import shadow
from tinydeploy.plan.layout import lay_out
from tinydeploy.plan.liveness import analyse


def shaken(build: Builder, moves: dict[str, int]) -> None:
    """Play the plan with some items moved."""
    result = lay_out(build.graph, build.lowered)
    live = analyse(build.graph, build.lowered)
    live = dataclasses.replace(live, items=tuple(dataclasses.replace(item, align=1) for item in live.items))
    offsets = {name: spot.offset + moves.get(name, 0) for name, spot in result.spots.items()}
    shadow.check(live, offsets, result.arena_bytes + 64)


@pytest.mark.parametrize("around", [0, 1, 2])
@pytest.mark.parametrize("reads_first", [True, False])
def test_one_byte_less_than_the_distance_is_caught(around, reads_first):
    build = Builder()
    build.input("a", 10 * 12)
    build.node(["a"], {"b": 10 * 12}, rows(10, 12, 12, around, reads_first))
    build.output("b")
    distance = build.lowered[0].offer.access.distance(0, 0)
    result = lay_out(build.graph, build.lowered)
    slack = result.offsets["a"] - result.offsets["b"] - distance
    assert slack >= 0
    shaken(build, {"b": slack})
    with pytest.raises(InternalError, match=r"node 'n0': step \d+: byte \d+ of 'a' .* overwritten at step \d+"):
        shaken(build, {"b": slack + 1})


def test_each_tight_distance_of_a_chain_is_needed():
    build = chain([8, 12, 8, 16, 4], 6, 1)
    result = lay_out(build.graph, build.lowered)
    assert result.overlaps
    for overlap in result.overlaps:
        gap = result.spots[overlap.input].offset - result.spots[overlap.output].offset - overlap.distance
        alone = Builder()
        node = next(low for low in build.lowered if low.node.name == overlap.node)
        alone.input("a", build.graph.type(overlap.input).size)
        alone.node(["a"], {"b": build.graph.type(overlap.output).size}, node.offer.access)
        alone.output("b")
        live = analyse(alone.graph, alone.lowered)
        live = dataclasses.replace(live, items=tuple(dataclasses.replace(item, align=1) for item in live.items))
        base = 256
        with pytest.raises(InternalError):
            shadow.check(live, {"a": base + overlap.distance - 1, "b": base}, 1024)
        shadow.check(live, {"a": base + overlap.distance, "b": base}, 1024)
        assert gap >= 0


def test_scratch_on_an_input_is_caught():
    build = Builder()
    build.input("a", 32)
    build.node(["a"], {"b": 32}, elementwise((32,), 32, 32), scratch=16)
    build.output("b")
    spots = lay_out(build.graph, build.lowered).spots
    with pytest.raises(InternalError, match="content that of scratch of 'n0'"):
        shaken(build, {"\0n0": spots["a"].offset - spots["\0n0"].offset})


def test_a_lost_output_is_caught():
    build = Builder()
    build.input("a", 16)
    build.node(["a"], {"b": 16}, AccessPlan((whole(16),), (whole(16),), False))
    build.node(["a"], {"c": 16}, AccessPlan((whole(16),), (whole(16),), False))
    build.output("b")
    build.output("c")
    spots = lay_out(build.graph, build.lowered).spots
    with pytest.raises(InternalError, match="after the last node"):
        shaken(build, {"c": spots["b"].offset - spots["c"].offset})


def test_two_outputs_of_a_node_on_each_other_are_caught():
    build = Builder()
    build.input("a", 16)
    build.node(["a"], {"b": 16, "c": 16}, AccessPlan((whole(16),), (whole(16), whole(16)), True))
    build.output("b")
    spots = lay_out(build.graph, build.lowered).spots
    with pytest.raises(InternalError, match="by another output too"):
        shaken(build, {"c": spots["b"].offset - spots["c"].offset})


def test_two_inputs_on_each_other_are_caught():
    build = Builder()
    build.input("a", 16)
    build.input("b", 16)
    build.node(["a", "b"], {"c": 16}, elementwise((16, 16), 16, 16))
    build.output("c")
    spots = lay_out(build.graph, build.lowered).spots
    with pytest.raises(InternalError, match="lie on each other"):
        shaken(build, {"b": spots["a"].offset - spots["b"].offset})


def test_a_place_outside_the_arena_is_caught():
    build = Builder()
    build.input("a", 16)
    build.output("a")
    with pytest.raises(InternalError, match="misplaced"):
        shaken(build, {"a": 65})


def test_a_byte_that_was_never_written_is_caught():
    build = Builder()
    build.input("a", 16)
    build.node(["a"], {"b": 16}, AccessPlan((whole(16),), (whole(15),), False))
    build.node(["b"], {"c": 4}, AccessPlan((whole(16),), (whole(4),), False))
    build.output("c")
    with pytest.raises(InternalError, match="byte 15 of 'b'"):
        lay_out(build.graph, build.lowered)
