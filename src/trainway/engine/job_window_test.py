"""Windows are compared with the whole list, filtered and sorted here, on both kinds of database."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from trainway.engine import job_window
from trainway.engine.database import open_database
from trainway.engine.job_filter import Filter, label_terms, metric_terms
from trainway.engine.job_window import Order, Window
from trainway.engine.metrics.report import Report
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord, JobSpec
from trainway.engine.run.record import RunRecord
from trainway.engine.store import Store

COUNT = 60
RUN = 6
"""Every sixth job begins a run of three."""
PHASES = (Phase.SUCCEEDED, Phase.FAILED, Phase.CANCELLED)
KINDS = ("TrainJob", "MPIJob")
BACKENDS = ("local", "ssh/lab")
TEAMS = ("nlp", "vision", "speech", "")


def job(number: int) -> JobRecord:
    place = number % RUN
    team = TEAMS[number % 4]
    return JobRecord(
        id=f"{number:03}",
        name=f"{'bert' if number % 3 else 'gpt'}-{number * 7 % COUNT:02}",
        namespace="default",
        kind=KINDS[number % 2],
        backend=BACKENDS[number % 5 == 0],
        phase=PHASES[number % 3],
        labels=json.dumps({"team": team, "user": f"u{number % 7}"} if team else {}),
        priority=number % 4,
        started=f"2026-11-{number % 9 + 10}",
        finished=f"2026-11-{number % 8 + 11}",
        restarts=number % 2,
        run=f"{number - place:03}" if place < 3 else None,
    )


JOBS = [job(number) for number in range(COUNT)]
LOSS = {each.id: float(each.id) / COUNT for each in JOBS if int(each.id) % 2}


@pytest.fixture(params=["sqlite", "postgresql"], scope="module")
def store(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path_factory.mktemp('windows')}/x.db"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgresql").new_database()
    made = Store(open_database(url))
    spec = JobSpec([], {}, {}, [])
    runs: dict[str | None, list[JobRecord]] = {}
    for each in JOBS:
        runs.setdefault(each.run or each.id, []).append(each)
    for first, jobs in runs.items():
        run = RunRecord(id=str(first), name="run", created="", backend="local", size=3)
        assert made.add_all([(each, spec, []) for each in jobs], run if jobs[0].run else None)
    reports = [
        (job_id, Report(1.0, {"loss": loss, "lr": 1 - loss})) for job_id, loss in LOSS.items()
    ]
    made.metrics.append(reports)
    yield made
    made.close()


@dataclass(frozen=True)
class Case:
    name: str
    wanted: Filter
    is_wanted: Callable[[JobRecord], bool]


CASES = [
    Case("everything", Filter(), lambda _: True),
    Case("nothing", Filter(kind="Pod"), lambda _: False),
    Case("phase", Filter(phases=[Phase.FAILED]), lambda each: each.phase == Phase.FAILED),
    Case(
        "phases",
        Filter(phases=[Phase.FAILED, Phase.CANCELLED]),
        lambda each: each.phase != Phase.SUCCEEDED,
    ),
    Case("text", Filter(text="BERT"), lambda each: "bert" in each.name),
    Case("id", Filter(text="007"), lambda each: each.id == "007"),
    Case("backend", Filter(backend="ssh/lab"), lambda each: each.backend == "ssh/lab"),
    Case("kind", Filter(kind="MPIJob"), lambda each: each.kind == "MPIJob"),
    Case("time", Filter(after="019", before="050"), lambda each: "019" < each.id < "050"),
    Case(
        "label",
        Filter(labels=label_terms(["team=nlp"])),
        lambda each: each.label_map.get("team") == "nlp",
    ),
    Case("label key", Filter(labels=label_terms(["team"])), lambda each: "team" in each.label_map),
    Case(
        "labels",
        Filter(labels=label_terms(["team=nlp", "user=u1"])),
        lambda each: each.label_map == {"team": "nlp", "user": "u1"},
    ),
    Case(
        "metric",
        Filter(metrics=metric_terms(["loss<0.5"])),
        lambda each: LOSS.get(each.id, 1.0) < 0.5,
    ),
    Case(
        "metrics",
        Filter(metrics=metric_terms(["loss<0.5", "lr<=0.9"])),
        lambda each: LOSS.get(each.id, 1.0) < 0.5 and 1 - LOSS[each.id] <= 0.9,
    ),
    Case(
        "label and age",
        Filter(labels=label_terms(["team=nlp"]), after="019", before="050"),
        lambda each: each.label_map.get("team") == "nlp" and "019" < each.id < "050",
    ),
    Case(
        "label key and age",
        Filter(labels=label_terms(["user"]), before="050"),
        lambda each: "user" in each.label_map and each.id < "050",
    ),
    Case(
        "metric and age",
        Filter(metrics=metric_terms(["loss>=0.1"]), after="019"),
        lambda each: LOSS.get(each.id, 0.0) >= 0.1 and each.id > "019",
    ),
    Case(
        "metric and phase",
        Filter(metrics=metric_terms(["loss<0.5"]), phases=[Phase.FAILED]),
        lambda each: LOSS.get(each.id, 1.0) < 0.5 and each.phase == Phase.FAILED,
    ),
    Case(
        "phase and age",
        Filter(phases=[Phase.FAILED], after="019"),
        lambda each: each.phase == Phase.FAILED and each.id > "019",
    ),
    Case(
        "backend and age",
        Filter(backend="local", before="050"),
        lambda each: each.backend == "local" and each.id < "050",
    ),
    Case(
        "backend and phase",
        Filter(backend="local", phases=[Phase.FAILED]),
        lambda each: each.backend == "local" and each.phase == Phase.FAILED,
    ),
    Case("run", Filter(run="012"), lambda each: each.run == "012"),
    Case(
        "several",
        Filter(
            phases=[Phase.SUCCEEDED, Phase.FAILED],
            kind="TrainJob",
            text="bert",
            labels=label_terms(["team=speech"]),
        ),
        lambda each: (
            each.phase != Phase.CANCELLED
            and each.kind == "TrainJob"
            and "bert" in each.name
            and each.label_map.get("team") == "speech"
        ),
    ),
]
PATHS = [
    pytest.param(case, few, id=f"{case.name}, {few} are few")
    for case in CASES
    for few in ((0, COUNT) if case.wanted.labels or case.wanted.metrics else (COUNT,))
]
"""Jobs with a label or a metric are looked up one by one if they are few."""
PLACES = [(0, 100), (0, 7), (5, 10), (13, 20), (30, 10), (47, 20), (200, 10)]


def cut(ids: Sequence[str], place: tuple[int, int]) -> list[str]:
    return list(ids[place[0] : place[0] + place[1]])


@pytest.mark.parametrize(("case", "few"), PATHS)
@pytest.mark.parametrize("is_ascending", [True, False])
def test_rows_of_runs_and_jobs(
    case: Case, is_ascending: bool, few: int, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_window, "FEW", few)
    heads = sorted({each.run or each.id for each in JOBS if case.is_wanted(each)})
    whole = heads if is_ascending else heads[::-1]
    for place in PLACES:
        window = Window(*place, is_ascending=is_ascending)
        found = store.windows.groups(case.wanted, window)
        assert (place, found.ids, found.total) == (place, cut(whole, place), len(whole))


@pytest.mark.parametrize(("case", "few"), PATHS)
def test_rows_of_jobs_in_any_order(
    case: Case, few: int, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_window, "FEW", few)
    for order in Order:
        wanted = [(getattr(each, order), each.id) for each in JOBS if case.is_wanted(each)]
        whole = [job_id for _, job_id in sorted(wanted)]
        for place in PLACES[1::2]:
            window = Window(*place, order=order)
            found = store.windows.jobs(case.wanted, window)
            assert (window, found.ids) == (window, cut(whole[::-1], place))
            found = store.windows.jobs(case.wanted, replace(window, is_ascending=True))
            assert (window, found.ids, found.total) == (window, cut(whole, place), len(whole))
