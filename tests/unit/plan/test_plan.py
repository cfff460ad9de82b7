import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from tests.unit.plan.graphs import TARGET, Builder, builders, chain, rows
from tinydeploy.errors import BoardError, InternalError
from tinydeploy.lower._contract import AccessPlan, Span, Target, elementwise, whole
from tinydeploy.plan import place, plan
from tinydeploy.plan.layout import lay_out


@pytest.fixture(autouse=True, scope="module")
def short_searches():
    """Random graphs need no optimum."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place, "WORK", 20_000)
        patch.setattr(place, "PROOF", 20_000)
        yield


def made(build: Builder, target: Target = TARGET):
    return plan(build.graph, build.lowered, target)


def test_element_by_element_needs_one_buffer():
    build = Builder()
    build.input("a", 100)
    build.node(["a"], {"b": 100}, elementwise((100,), 100, 100))
    build.output("b")
    result = made(build)
    assert result.arena_bytes == result.lower_bound_bytes == 100
    assert result.offsets == {"a": 0, "b": 0}
    assert result.live_bytes == {"n0": 100}
    assert result.overlaps[0].distance == 0


def test_a_dense_layer_shares_nothing():
    build = Builder()
    build.input("a", 100)
    build.node(["a"], {"b": 10}, AccessPlan((whole(100),), (whole(10),), reads_first=False))
    build.output("b")
    assert made(build).arena_bytes == 110


def test_an_input_read_again_later_is_not_overwritten():
    build = Builder()
    build.input("a", 100)
    build.node(["a"], {"b": 100}, elementwise((100,), 100, 100))
    build.node(["a", "b"], {"c": 100}, elementwise((100, 100), 100, 100))
    build.output("c")
    result = made(build)
    assert result.arena_bytes == 200
    assert result.offsets["c"] in (result.offsets["a"], result.offsets["b"])


def test_a_value_read_twice_takes_the_stricter_distance():
    same = elementwise((64,), 64, 64)
    half = Span(np.zeros(64, np.int64), np.where(np.arange(64) < 32, 64, 0))
    late = AccessPlan((same.reads[0], half), same.writes, True)
    build = Builder()
    build.input("a", 64)
    build.node(["a", "a"], {"b": 64}, late)
    build.output("b")
    result = made(build)
    assert result.overlaps[0].distance == 31  # byte 0 of a is still needed at step 31, after 31 bytes of b
    assert result.arena_bytes == 96


def test_a_view_shares_its_input_and_keeps_it_alive():
    build = Builder()
    build.input("a", 40)
    build.node(["a"], {"b": 40}, None, view=True)
    build.node(["a"], {"c": 8}, AccessPlan((whole(40),), (whole(8),), False))
    build.node(["b", "c"], {"d": 4}, AccessPlan((whole(40), whole(8)), (whole(4),), False))
    build.output("d")
    result = made(build)
    assert result.views == {"b": "a"}
    assert result.offsets["b"] == result.offsets["a"]
    assert result.arena_bytes == 52


def test_outputs_that_nobody_reads_have_room_while_their_node_runs():
    build = Builder()
    build.input("a", 16)
    build.node(["a"], {"b": 16, "unread": 24}, AccessPlan((whole(16),), (whole(16), whole(24)), True))
    build.output("b")
    result = made(build)
    spots = result.spots
    assert spots["unread"].first == spots["unread"].last == 0
    assert spots["unread"].offset >= spots["b"].offset + 16 or spots["b"].offset >= spots["unread"].offset + 24


def test_scratch_is_aligned_and_apart_from_everything_live():
    build = Builder()
    build.input("a", 20)
    build.node(["a"], {"b": 20}, elementwise((20,), 20, 20), scratch=10)
    build.output("b")
    result = made(build)
    assert result.scratch["n0"] % 16 == 0
    assert result.scratch["n0"] >= 20 or result.offsets["a"] >= 10


def test_only_the_offset_is_rounded_not_the_sizes_in_the_distance():
    """Odd channel counts: a distance from rounded sizes would be too small (lesson b of the prototype)."""
    build = Builder()
    build.input("a", 7 * 3)
    build.node(["a"], {"b": 7 * 5}, rows(7, 3, 5, 0))
    build.output("b")
    result = made(build)
    exact = build.lowered[0].offer.access.distance(0, 0)
    assert exact == 30 - 18
    assert result.offsets["a"] - result.offsets["b"] >= exact


def test_chains_are_placed_at_their_proved_optimum():
    result = made(chain([64] * 9, 25, 1))
    assert result.arena_bytes == result.lower_bound_bytes
    assert result.arena_bytes < 2 * 25 * 64


def test_states_lie_in_their_own_region():
    build = Builder()
    build.input("x", 8)
    build.state("kept", 12, "new")
    build.node(["x", "kept"], {"new": 12}, AccessPlan((whole(8), whole(12)), (whole(12),), False))
    build.output("new")
    result = made(build)
    assert result.state_bytes == 12
    assert result.state_offsets == {"kept": 0}
    assert "kept" not in result.offsets
    assert [(c.value, c.source, c.target, c.region) for c in result.copies] == [("new", "arena", "kept", "state")]


def test_states_that_feed_each_other_are_read_before_one_is_written():
    build = Builder()
    build.input("x", 4)
    build.state("first", 4, "x")
    build.state("second", 4, "first")
    build.output("second")
    result = made(build)
    kinds = [(c.source, c.region) for c in result.copies]
    assert kinds == [("state", "arena"), ("state", "arena"), ("arena", "state"), ("arena", "state")]


def test_a_kernel_that_reads_past_its_input_is_found():
    build = Builder()
    build.input("a", 8)
    build.node(["a"], {"b": 8}, AccessPlan((whole(9),), (whole(8),), True))
    build.output("b")
    with pytest.raises(InternalError, match="beyond the 8 of 'a'"):
        made(build)


def test_an_offer_with_missing_spans_is_a_bug_of_ours():
    build = Builder()
    build.input("a", 8)
    build.node(["a"], {"b": 8}, AccessPlan((), (whole(8),), True))
    build.output("b")
    with pytest.raises(InternalError, match="0 reads and 1 writes"):
        made(build)


def two_ways() -> Builder:
    """The fast kernels want scratch: 400 bytes at node 0, 100 at node 1."""
    build = Builder()
    build.input("a", 100)
    access = elementwise((100,), 100, 100)
    build.node(["a"], {"b": 100}, access, scratch=400, cycles=10, alternatives=[(access, 0, 50)])
    build.node(["b"], {"c": 100}, access, scratch=100, cycles=10, alternatives=[(access, 0, 60)])
    build.output("c")
    return build


@pytest.mark.parametrize(
    ("optimize", "max_ram", "arena", "cycles"),
    [
        ("speed", None, 500, 20),
        ("speed", 500, 500, 20),
        ("speed", 499, 200, 60),
        ("speed", 199, 100, 110),
        ("balanced", None, 100, 110),
        ("balanced", 600, 100, 110),
    ],
)
def test_the_fewest_cycles_within_the_budget_win(optimize, max_ram, arena, cycles):
    result = made(two_ways(), Target("cortex-m4", "dsp", True, optimize, max_ram))
    assert (result.arena_bytes, result.cycles) == (arena, cycles)
    assert len(result.notes) == (cycles > 20) + (cycles > 60)


def test_only_the_nodes_that_must_lose_their_first_choice():
    """Along a chain each distance adds up; giving up one of them is enough."""
    build = Builder()
    build.input("v0", 400)
    lean = elementwise((400,), 400, 400)
    for i in range(4):
        build.node([f"v{i}"], {f"v{i + 1}": 400}, rows(10, 40, 40, 1), cycles=10 * i, alternatives=[(lean, 0, 100)])
    build.output("v4")
    fast = made(build)
    assert fast.arena_bytes == 560
    tight = made(build, Target("cortex-m4", "dsp", True, "speed", 520))
    assert tight.arena_bytes <= 520
    assert [low.offer.kernel for low in tight.lowered] == ["k0", "k0", "k0", "k1"]


def test_a_budget_that_cannot_be_met_says_by_how_much_and_where():
    with pytest.raises(BoardError) as caught:
        made(two_ways(), Target("cortex-m4", "dsp", True, "speed", 90))
    assert "100 bytes, 10 too many" in str(caught.value)
    assert "node 'n0'" in str(caught.value)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(builders())
def test_any_graph_has_a_plan_that_holds(build):
    """The shadow run is part of the plan; the bound is checked here, and that nothing depends on luck."""
    result = made(build)
    assert result.lower_bound_bytes <= result.arena_bytes
    assert result.arena_bytes <= sum(-(-s.size // 16) * 16 for s in result.spots.values())
    assert max(result.live_bytes.values(), default=0) <= result.arena_bytes
    assert lay_out(build.graph, build.lowered).offsets == result.offsets
    for name in build.graph.outputs:
        assert any(s.offset in result.outputs for s in result.spots.values()), name


@settings(max_examples=40, deadline=None)
@given(builders())
def test_contents_survive_when_the_arena_is_really_used(build):
    """Every node writes random bytes step by step into one array; what is read is what was written."""
    result = made(build)
    rng = np.random.default_rng(0)
    arena = rng.integers(0, 256, max(result.arena_bytes, 1), np.uint8)
    truth = {}
    for name in build.graph.inputs:
        truth[name] = rng.integers(0, 256, build.graph.type(name).nbytes, np.uint8)
        arena[result.offsets[name] :][: len(truth[name])] = truth[name]
    for low in result.lowered:
        node, access = low.node, low.offer.access
        if low.offer.view:
            if node.inputs[0] in truth:
                truth[node.outputs[0]] = truth[node.inputs[0]]
            continue
        if node.name in result.scratch:
            arena[result.scratch[node.name] :][: low.offer.scratch_bytes] = rng.integers(0, 256)
        for name in node.outputs:
            truth[name] = rng.integers(0, 256, build.graph.type(name).nbytes, np.uint8)
        ins = [(n, s) for n, s in zip(node.inputs, access.reads, strict=True) if n in result.offsets]
        for step in range(len(access.writes[0].low)):

            def read(step=step, ins=ins, node=node):
                for name, span in ins:
                    low, high = span.low[step], span.high[step]
                    got = arena[result.offsets[name] :][low:high]
                    assert (got == truth[name][low:high]).all(), (node.name, name, step)

            def write(step=step, node=node, access=access):
                for name, span in zip(node.outputs, access.writes, strict=True):
                    low, high = span.low[step], span.high[step]
                    arena[result.offsets[name] :][low:high] = truth[name][low:high]

            for action in (read, write) if access.reads_first else (write, read):
                action()
    for name in build.graph.outputs:
        if name in truth:
            offset = result.outputs[build.graph.outputs.index(name)]
            assert (arena[offset:][: len(truth[name])] == truth[name]).all()
