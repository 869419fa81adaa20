"""The places of tasks against trying out all of them."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.optimizer.labelling import Costs, Edge, Place, cheapest, total

PLACES: list[Place] = [
    ("aws", "one"),
    ("aws", "two"),
    ("gcp", "one"),
    ("gcp", "two"),
    ("oci", "x"),
    ("lambda", "x"),
    ("nebius", "y"),
]
money = st.integers(0, 12).map(lambda cents: cents / 4)


@st.composite
def problems(draw: st.DrawFn, size: int = 4) -> tuple[list[Costs], list[Edge]]:
    """Tasks with costs in some places, and edges between any of them, circles included."""
    count = draw(st.integers(1, size))
    costs: list[Costs] = [
        draw(st.dictionaries(st.sampled_from(PLACES), money, min_size=1)) for _ in range(count)
    ]
    pairs = [(first, second) for first in range(count) for second in range(first + 1, count)]
    edges = []
    for first, second in draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else ():
        between = {cloud: draw(money) for cloud in ("aws", "gcp")}
        out = {cloud: price + draw(money) for cloud, price in between.items()} | {"oci": 0.5}
        edges.append(Edge(first, second, between, out, draw(money)))
    return costs, edges


@given(problem=problems())
def test_no_choice_is_cheaper(problem: tuple[list[Costs], list[Edge]]) -> None:
    costs, edges = problem
    found = cheapest(costs, edges)
    all_choices = itertools.product(*costs)
    best = min(total(choice, costs, edges) for choice in all_choices)
    assert total(found, costs, edges) == pytest.approx(best, abs=1e-6)


def test_of_equal_places_the_first_counts() -> None:
    costs: list[Costs] = [{PLACES[3]: 1, PLACES[0]: 1}, {PLACES[2]: 2.0, PLACES[1]: 2.0}]
    assert cheapest(costs, []) == [PLACES[3], PLACES[2]]


def test_data_keeps_tasks_together_as_far_as_it_costs_more_than_they_do() -> None:
    costs: list[Costs] = [{PLACES[0]: 1}, {PLACES[0]: 3, PLACES[2]: 1}]

    def edge(price: float) -> Edge:
        return Edge(0, 1, {"aws": 0}, {"aws": price})

    assert cheapest(costs, [edge(1.5)]) == [PLACES[0], PLACES[2]]
    assert cheapest(costs, [edge(2.5)]) == [PLACES[0], PLACES[0]]
