"""Branch and bound against trying everything."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from tinydeploy.plan.constraints import Pair
from tinydeploy.plan.exact import Search, least
from tinydeploy.plan.liveness import Item
from tinydeploy.plan.place import place


@st.composite
def problems(draw):
    sizes = draw(st.lists(st.integers(1, 5), min_size=2, max_size=4))
    items = [Item(f"i{k}", 4 * size, 4, 0, 0) for k, size in enumerate(sizes)]
    pairs = []
    for a, b in itertools.combinations(range(len(items)), 2):
        if draw(st.booleans()):
            overlap = draw(st.integers(-8, 4 * sizes[b]))
            pairs.append(Pair(a, b, max(-items[b].size, -overlap), items[a].size))
    return items, [pair for pair in pairs if pair.high - pair.low > 1]


def smallest(items, pairs) -> int:
    top = sum(item.size for item in items)
    best = top
    for offsets in itertools.product(range(0, top, 4), repeat=len(items)):
        if all(not pair.low < offsets[pair.b] - offsets[pair.a] < pair.high for pair in pairs):
            best = min(best, max(o + item.size for o, item in zip(offsets, items, strict=True)))
    return best


@settings(max_examples=40, deadline=None)
@given(problems())
def test_finds_the_optimum_and_never_refutes_it(problem):
    items, pairs = problem
    optimum = smallest(items, pairs)
    found = Search(items, pairs, optimum).find(10**6)
    assert found is not None
    assert all(not pair.low < found[pair.b] - found[pair.a] < pair.high for pair in pairs)
    assert max(o + item.size for o, item in zip(found, items, strict=True)) <= optimum
    assert Search(items, pairs, optimum - 4).find(10**6) is None
    assert least(items, pairs, 0, optimum, 10**6) <= optimum
    offsets, bound = place(items, pairs, 0)
    assert bound <= optimum <= max(o + item.size for o, item in zip(offsets, items, strict=True))
