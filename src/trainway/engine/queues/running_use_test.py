import json
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.engine.attempt_runs import Runs
from trainway.engine.queues.gangs import seconds
from trainway.engine.queues.running_use import RunningUse, line_of
from trainway.engine.record import JobRecord
from trainway.engine.times import time_text
from trainway.queueing.snapshot import cost_of

NOON = "2026-11-15T12:00:00Z"
NOVEMBER = seconds("2026-11-01T00:00:00Z")
GPUS = json.dumps({"cpus": "0", "memory": "0", "gpus": 2})


@dataclass(frozen=True)
class Case:
    name: str
    runs: Runs
    whole: float
    since: float
    """How much of it was at or after noon."""


CASES = [
    Case("never", [], 0, 0),
    Case("since an hour", [{"attempt": 0, "start": "2026-11-15T12:30:00Z"}], 1800, 1800),
    Case(
        "before and after",
        [{"attempt": 0, "start": "2026-11-15T11:00:00Z", "end": "2026-11-15T12:15:00Z"}],
        4500,
        900,
    ),
    Case(
        "long ago",
        [{"attempt": 0, "start": "2026-11-15T10:00:00Z", "end": "2026-11-15T11:00:00Z"}],
        3600,
        0,
    ),
    Case(
        "several that are one now",
        [{"attempt": 1, "start": "2026-11-15T11:00:00Z", "end": "2026-11-15T12:30:00Z",
          "seconds": 60.0}],
        60,
        60,
    ),
    Case(
        "one long ago and one now",
        [{"attempt": 0, "start": "2026-11-15T09:00:00Z", "end": "2026-11-15T10:00:00Z"},
         {"attempt": 1, "start": "2026-11-15T11:45:00Z"}],
        3600 + 4500,
        3600,
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_how_long_it_ran(case: Case) -> None:
    now = seconds("2026-11-15T13:00:00Z")
    assert line_of(case.runs).at(now) == case.whole
    assert line_of(case.runs, seconds(NOON)).at(now) == case.since


def record(job_id: str, user: str = "ada") -> JobRecord:
    labels = json.dumps({"trainway.dev/user": user})
    return JobRecord(
        id=job_id, name=job_id, namespace="default", kind="JobSet", backend="local",
        queue="team", labels=labels, demand=GPUS,
    )  # fmt: skip


def test_a_new_month_counts_from_its_beginning() -> None:
    runs: Runs = [{"attempt": 0, "start": "2026-11-30T23:00:00Z"}]
    use = RunningUse(seconds(NOON), [(record("a"), runs)])
    assert use.gpu_seconds(seconds("2026-11-30T23:30:00Z")) == {"team": 2 * 1800}
    december = seconds("2026-12-01T00:10:00Z")
    assert use.gpu_seconds(december) == {"team": 2 * 600}
    assert use.costs(december) == {("team", "ada"): 4200 * cost_of({"gpu": 2})}


def test_what_goes_on_in_a_job_meanwhile_does_not_change_what_was_counted() -> None:
    runs: Runs = [{"attempt": 0, "start": NOON}]
    use = RunningUse(seconds(NOON), [(record("a"), runs)])
    runs[0]["end"] = "2026-11-15T12:10:00Z"
    use.drop("a")
    now = seconds("2026-11-15T13:00:00Z")
    assert use.costs(now) == {}
    assert use.gpu_seconds(now) == {}


_SPAN = st.tuples(st.integers(0, 10**6), st.integers(0, 10**5), st.booleans())


@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["ada", "bob"]), _SPAN), max_size=30),
    st.sets(st.integers(0, 5)),
)
def test_sums_that_are_kept_up_are_those_of_what_runs(
    puts: list[tuple[int, str, tuple[int, int, bool]]], dropped: set[int]
) -> None:
    now = NOVEMBER + 2 * 10**6
    use, jobs = RunningUse(now), dict[str, tuple[JobRecord, Runs]]()
    for number, user, (start, length, is_over) in puts:
        run = {"attempt": 0, "start": _time(start)}
        if is_over:
            run["end"] = _time(start + length)
        jobs[str(number)] = record(str(number), user), [run]
        use.put(*jobs[str(number)])
    for number in dropped:
        use.drop(str(number))
        jobs.pop(str(number), None)
    anew = RunningUse(now, jobs.values())
    assert use.costs(now) == anew.costs(now)
    assert use.gpu_seconds(now) == anew.gpu_seconds(now)


def _time(second: int) -> str:
    return time_text(datetime.fromtimestamp(NOVEMBER + second, UTC))
