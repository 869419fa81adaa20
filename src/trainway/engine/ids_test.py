from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from trainway.engine.ids import ALPHABET, LENGTH, Ids, before

START = datetime(2026, 11, 15, tzinfo=UTC)


def test_an_id_is_short_and_plain() -> None:
    made = Ids(lambda: START).new()
    assert len(made) == LENGTH
    assert set(made) <= set(ALPHABET)


def test_the_largest_time_still_fits() -> None:
    made = Ids(lambda: datetime(2089, 1, 1, tzinfo=UTC), lambda bits: (1 << bits) - 1).new()
    assert len(made) == LENGTH
    assert made > Ids(lambda: START).new()


@given(st.lists(st.integers(-2000, 2000), min_size=2, max_size=50))
def test_ids_of_one_server_count_up_whatever_the_clock_does(steps: list[int]) -> None:
    moments = iter([START + timedelta(milliseconds=step) for step in steps])
    ids = Ids(lambda: next(moments))
    made = [ids.new() for _ in steps]
    assert made == sorted(set(made))


@given(st.integers(0, 10**6), st.lists(st.integers(-(10**6), 0), min_size=2, max_size=20))
def test_ids_follow_those_of_an_earlier_server_whose_clock_was_ahead(
    ahead: int, steps: list[int]
) -> None:
    known = Ids(lambda: START + timedelta(milliseconds=ahead)).new()
    moments = iter([START + timedelta(milliseconds=step) for step in steps])
    ids = Ids(lambda: next(moments))
    ids.follow(known)
    ids.follow("demo")
    made = [ids.new() for _ in steps]
    assert [known, *made] == sorted({known, *made})


def test_a_moment_parts_older_ids_from_younger_ones() -> None:
    older = Ids(lambda: START - timedelta(milliseconds=1), lambda bits: (1 << bits) - 1).new()
    younger = Ids(lambda: START, lambda _: 0).new()
    assert older <= before(START) < younger
    assert before(datetime(1, 1, 1, tzinfo=UTC)) == "0" * LENGTH
    assert before(datetime(9999, 1, 1, tzinfo=UTC)) > Ids(lambda: START).new()
