"""Shares of rows, and the orders of epochs."""

from dataclasses import dataclass
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.data.flight.order import Order, Shuffle
from trainway.data.flight.row_range import RowRange, even_share, upstream_share
from trainway.errors import UsageError


@dataclass(frozen=True)
class Case:
    rows: int
    index: int
    total: int
    share: tuple[int, int]


@pytest.mark.parametrize(
    "case",
    [
        Case(10, 0, 3, (0, 4)),
        Case(10, 2, 3, (8, 10)),
        Case(4, 2, 3, (4, 4)),  # upstream refuses this part, which has no rows
        Case(2, 4, 5, (2, 2)),
        Case(0, 0, 1, (0, 0)),
    ],
)
def test_upstream_share(case: Case) -> None:
    assert upstream_share(case.rows, case.index, case.total) == RowRange(*case.share)


@pytest.mark.parametrize(("index", "total"), [(3, 3), (-1, 2), (0, 0)])
def test_there_is_no_such_share(index: int, total: int) -> None:
    for share in (upstream_share, even_share):
        with pytest.raises(UsageError, match="Invalid partition range"):
            share(10, index, total)


@given(st.integers(0, 300), st.integers(1, 50))
def test_all_shares_are_all_rows(rows: int, total: int) -> None:
    for share in (upstream_share, even_share):
        found = [share(rows, index, total) for index in range(total)]
        assert list(chain.from_iterable(range(each.start, each.stop) for each in found)) == list(
            range(rows)
        )
    sizes = {len(even_share(rows, index, total)) for index in range(total)}
    assert max(sizes) - min(sizes) <= 1


def rows_at(order: Order, places: RowRange, window: int) -> list[int]:
    found: list[int] = []
    for each in order.windows(places, window):
        rows = [row for block in each.ranges for row in range(block.start, block.stop)]
        found += rows if each.picks is None else [rows[pick] for pick in each.picks]
        assert len(each) <= max(window, 256)
    return found


@given(
    st.integers(0, 3_000),
    st.one_of(st.none(), st.builds(Shuffle, st.integers(0, 9), st.integers(0, 9))),
    st.integers(1, 1_000),
    st.data(),
)
def test_an_epoch_reads_every_row_once_from_wherever_it_goes_on(
    rows: int, shuffle: Shuffle | None, window: int, data: st.DataObject
) -> None:
    order = Order(rows, shuffle)
    whole = rows_at(order, RowRange(0, rows), window)
    start = data.draw(st.integers(0, rows))
    stop = data.draw(st.integers(start, rows))

    assert sorted(whole) == list(range(rows))
    assert rows_at(order, RowRange(start, stop), window) == whole[start:stop]
    runs = list(order.runs(RowRange(start, stop)))
    assert sum(map(len, runs)) == stop - start
    if shuffle is None:
        assert whole == list(range(rows))


def test_orders_stay_the_same_for_ever() -> None:
    """A job that resumes with another version of Trainway must find its row again."""
    order = rows_at(Order(600, Shuffle(7, 1)), RowRange(0, 600), 512)
    assert order[:4] == [342, 279, 598, 304]
    assert order != rows_at(Order(600, Shuffle(7, 2)), RowRange(0, 600), 512)
    assert order != rows_at(Order(600, Shuffle(8, 1)), RowRange(0, 600), 512)
