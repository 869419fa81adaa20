"""What pipelines keep in the database, on SQLite and on PostgreSQL."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from trainway.engine.database import open_database
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord, JobSpec
from trainway.engine.run.pipeline import Pipeline
from trainway.engine.run.record import RunRecord
from trainway.engine.store import Store
from trainway.jobset.labels import TASK

SPEC = JobSpec([{"kind": "Task"}], {}, {"spec": {}}, [])
TASKS = Pipeline({"one": (), "two": ("one",)})


@pytest.fixture
def store(new_database: Callable[[], str]) -> Iterator[Store]:
    made = Store(open_database(new_database()))
    yield made
    made.close()


def job(id_: str, task: str, place: str | None = None) -> JobRecord:
    labels = json.dumps({TASK: task})
    made = JobRecord(id=id_, name=f"p-{task}", namespace="default", kind="Task", backend="local")
    return replace(made, labels=labels, place=place, run="a")


def test_the_phases_of_tasks(store: Store) -> None:
    then = "2026-11-15T05:00:00Z"
    run = RunRecord(id="a", name="p", backend="local", created=then, size=2, pipeline=TASKS.text())
    store.add_all([(job("a", "one"), SPEC, []), (job("b", "two"), SPEC, [])], run)
    (found,) = store.runs.limited()
    assert found == run
    assert Pipeline.stored(found.pipeline or "") == TASKS
    store.update("a", {"phase": Phase.FAILED, "finished": then})
    phases = store.runs.task_phases(["a", "none"])
    assert phases == {"a": {"one": Phase.FAILED, "two": Phase.PENDING}, "none": {}}
    store.add_all([(job("c", "one", place="a"), SPEC, [])], run)
    assert store.runs.task_jobs("a") == {"one": "c", "two": "b"}
    assert store.runs.task_phases(["a"])["a"]["one"] == Phase.PENDING, "who took its place counts"
    store.delete("b")
    assert store.runs.task_phases(["a"]) == {"a": {"one": Phase.PENDING}}
    store.update("c", {"phase": Phase.SUCCEEDED, "finished": then})
    assert store.runs.limited() == []
