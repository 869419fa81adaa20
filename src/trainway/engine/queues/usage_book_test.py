import json

import pytest

from trainway.engine.queues.gangs import seconds
from trainway.engine.queues.record import EndedJob
from trainway.engine.queues.running_use import RunningUse
from trainway.engine.queues.usage_book import UsageBook
from trainway.queueing.fair_share import HALF_LIFE_S
from trainway.queueing.snapshot import cost_of

NOON = seconds("2026-11-15T12:00:00Z")
NOTHING = RunningUse(NOON)
GPUS = json.dumps({"cpus": "0", "memory": "0", "gpus": 2})


def ended(start: str, end: str, ran: float | None = None, user: str = "ada") -> EndedJob:
    return EndedJob("team", json.dumps({"trainway.dev/user": user}), GPUS, start, end, ran)


def test_what_was_used_halves_in_a_week() -> None:
    book = UsageBook(NOON)
    book.add(ended("2026-11-15T11:00:00Z", "2026-11-15T12:00:00Z"), NOON)
    book.add(ended("", "2026-11-15T12:00:00Z"), NOON)  # one that never began
    whole = 3600 * cost_of({"gpu": 2})
    assert book.used(NOON, NOTHING).by_queue == {"team": whole}
    later = book.used(NOON + HALF_LIFE_S, NOTHING)
    assert later.by_user == {("team", "ada"): pytest.approx(whole / 2, rel=1e-6)}


def test_who_used_the_same_later_counts_more() -> None:
    book = UsageBook(NOON)
    book.add(ended("2026-11-01T11:00:00Z", "2026-11-01T12:00:00Z", user="before"), NOON)
    book.add(ended("2026-11-15T11:00:00Z", "2026-11-15T12:00:00Z", user="now"), NOON)
    used = book.used(NOON, NOTHING).by_user
    assert used["team", "now"] == pytest.approx(4 * used["team", "before"], rel=1e-6)


def test_gpu_hours_are_those_of_the_month() -> None:
    book = UsageBook(NOON)
    book.add(ended("2026-10-31T23:00:00Z", "2026-11-01T01:00:00Z"), NOON)
    book.add(ended("2026-11-02T00:00:00Z", "2026-11-03T00:00:00Z", ran=1800.0), NOON)
    book.add(ended("2026-10-02T00:00:00Z", "2026-10-03T00:00:00Z"), NOON)
    assert book.used(NOON, NOTHING).gpu_seconds == {"team": 2 * (3600 + 1800)}
    assert book.used(seconds("2026-12-01T00:00:00Z"), NOTHING).gpu_seconds == {}


@pytest.mark.parametrize("begun", [0.0, seconds("2000-01-01T00:00:00Z"), 2 * NOON, NOON])
@pytest.mark.parametrize("told", ["1970-01-01", "2000-01-01", "2026-11-15", "2100-01-01"])
def test_no_clock_stops_the_queue(begun: float, told: str) -> None:
    """That of the server was set by years after it began, and jobs tell of any time."""
    book = UsageBook(begun)
    book.add(ended(f"{told}T11:00:00Z", f"{told}T12:00:00Z"), begun)
    book.used(begun, NOTHING)
    book.add(ended(f"{told}T11:00:00Z", f"{told}T12:00:00Z", user="bob"), NOON)
    book.add(ended("2026-11-15T11:00:00Z", "2026-11-15T12:00:00Z", user="eve"), NOON)
    used = book.used(NOON, NOTHING).by_user
    whole = 3600 * cost_of({"gpu": 2})
    assert used["team", "eve"] == pytest.approx(whole, rel=1e-6)
    assert max(used.values()) <= whole + 1
    assert book.used(begun, NOTHING).by_user.keys() == used.keys()


def test_usage_decays_alike_whenever_it_is_asked_for() -> None:
    books = [UsageBook(NOON), UsageBook(NOON)]
    for book in books:
        book.add(ended("2026-11-15T11:00:00Z", "2026-11-15T12:00:00Z", ran=2.0**50), NOON)
    for week in range(80):
        books[0].used(NOON + week * HALF_LIFE_S, NOTHING)
    later = [book.used(NOON + 60 * HALF_LIFE_S, NOTHING).by_user for book in books]
    assert later[0] == later[1]
