"""Windows of the list of jobs, and the overview, over HTTP."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from trainway.engine.ids import Ids
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord, JobSpec
from trainway.engine.run.record import RunRecord
from trainway.engine.times import time_text
from trainway.server.testing_site import Site, play

NAMES: Final = ("bert", "Bert_large", "gpt-a", "gpt-b", "resnet")
LABELS: Final = {
    "bert": {"team": "nlp"},
    "Bert_large": {"team": "nlp"},
    "gpt-a": {"trainway.dev/user": "ada"},
}
MAKE_ID: Final = Ids().new


@dataclass(frozen=True)
class Case:
    query: str
    names: list[str]
    total: int


NEWEST_FIRST: Final = list(reversed(NAMES))
CASES: Final = [
    Case("", NEWEST_FIRST, 5),
    Case("ascending=true", list(NAMES), 5),
    Case("offset=1&limit=2", ["gpt-b", "gpt-a"], 5),
    Case("offset=9", [], 5),
    Case("text=BERT", ["Bert_large", "bert"], 2),
    Case("text=t_l", ["Bert_large"], 1),
    Case("text=%25", [], 0),
    Case("sort=name&text=gpt&ascending=true", ["gpt-a", "gpt-b"], 2),
    Case("sort=name&text=gpt", ["gpt-b", "gpt-a"], 2),
    Case("label=team=nlp", ["Bert_large", "bert"], 2),
    Case("user=ada", ["gpt-a"], 1),
    Case("user=ad", [], 0),
    Case("kind=JobSet", NEWEST_FIRST, 5),
    Case("kind=TrainJob", [], 0),
    Case("backend=local", NEWEST_FIRST, 5),
    Case("backend=nowhere", [], 0),
    Case("since=1h", NEWEST_FIRST, 5),
    Case("until=1h", [], 0),
    Case("phase=Succeeded", NEWEST_FIRST, 5),
    Case("phase=Failed,Queued", [], 0),
    Case("metric=loss%3C1", [], 0),
    Case("grouped=true", NEWEST_FIRST, 5),
]


def job(name: str, job_id: str = "", **more: Any) -> JobRecord:
    values = {"phase": Phase.SUCCEEDED, "created": time_text(datetime.now(UTC)), **more}
    labels = json.dumps(LABELS.get(name, {}))
    return JobRecord(
        id=job_id or MAKE_ID(), name=name, namespace="default", kind="JobSet", backend="local",
        labels=labels, **values,
    )  # fmt: skip


def add(site: Site, *jobs: JobRecord, run: RunRecord | None = None) -> None:
    spec = JobSpec([], {}, {}, [])
    assert site.world.store.add_all([(each, spec, []) for each in jobs], run)


def test_rows_are_those_that_are_asked_for(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        add(site, *(job(name) for name in NAMES))
        for case in CASES:
            status, answer = await site.ask("GET", f"/windows/jobs?{case.query}")
            names = [row["job"]["metadata"]["name"] for row in answer["items"]]
            assert (status, case.query, names) == (200, case.query, case.names)
            assert (case.query, answer["total"]) == (case.query, case.total)

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("sort=size", "sort"),
        ("grouped=true&sort=name", "sort"),
        ("offset=-1", "offset"),
        ("limit=501", "limit"),
        ("phase=Gone", "phase"),
        ("until=yesterday", "until"),
        ("label=%3Cb%3E", "label"),
        ("metric=loss", "metric"),
        (f"text={'x' * 300}", "text"),
    ],
)
def test_nonsense_is_refused_with_its_field(query: str, field: str, tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        status, answer = await site.ask("GET", f"/windows/jobs?{query}")
        assert (status // 100, answer["error"]["field"]) == (4, field)

    play(tmp_path, scene)


def test_the_jobs_of_a_run_stand_in_one_row(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        first, alone = job("alone"), MAKE_ID()
        run = RunRecord(id=alone, name="sweep", created=first.created, backend="local", size=2)
        add(site, first)
        ended = {"run": alone, "phase": Phase.FAILED}
        add(site, job("sweep-0", alone, run=alone), job("sweep-1", **ended), run=run)
        add(site, job("last"))
        _, answer = await site.ask("GET", "/windows/jobs?grouped=true")
        assert answer["total"] == 3
        assert [("run" if "run" in row else "job") for row in answer["items"]] == [
            "job", "run", "job",
        ]  # fmt: skip
        assert answer["items"][1]["run"]["status"]["phases"] == {"Succeeded": 1, "Failed": 1}
        _, answer = await site.ask("GET", "/windows/jobs?grouped=true&phase=Failed")
        assert [row["run"]["metadata"]["name"] for row in answer["items"]] == ["sweep"]
        _, answer = await site.ask("GET", f"/windows/jobs?run={alone}")
        names = [row["job"]["metadata"]["name"] for row in answer["items"]]
        assert (names, answer["total"]) == (["sweep-1", "sweep-0"], 2)

    play(tmp_path, scene)


def test_the_overview_adds_up(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        site.world.now = datetime.now(UTC)
        now = time_text(site.world.now)
        hour = f"{now[:13]}:00:00Z"
        long_ago = "2020-01-01T00:00:00.000000Z"
        culprit = {"pod": "node-0-0", "attempt": 0, "exitCode": 3}
        demand = json.dumps({"gpus": 2, "cpus": "1500m"})
        add(
            site,
            job("old", "000000000001", created=long_ago, finished=long_ago),
            job("waits-longer", phase=Phase.QUEUED),
            job("waits", phase=Phase.QUEUED),
            job("runs", phase=Phase.RUNNING, demand=demand),
            job("failed", phase=Phase.FAILED, finished=now,
                observed=json.dumps({"culprit": culprit})),
        )  # fmt: skip
        status, answer = await site.ask("GET", "/overview")
        assert status == 200
        assert answer["phases"] == {"Succeeded": 1, "Queued": 2, "Running": 1, "Failed": 1}
        counted = {each["hour"]: each["counts"] for each in answer["hours"]}
        assert counted[hour]["Failed"] == 1
        assert sum(each.get("submitted", 0) for each in counted.values()) == 4
        assert not any(each.get("Succeeded") for each in counted.values())
        [local] = [each for each in answer["backends"] if each["name"] == "local"]
        used = {name: local[name] for name in ("running", "waiting", "gpus", "cpus")}
        assert used == {"running": 1, "waiting": 2, "gpus": 2, "cpus": 1.5}
        assert [each["metadata"]["name"] for each in answer["failures"]] == ["failed"]
        assert answer["failures"][0]["status"]["failure"]["exitCode"] == 3
        waiting = [each["metadata"]["name"] for each in answer["waiting"]]
        assert waiting == ["waits-longer", "waits"]

    play(tmp_path, scene)
