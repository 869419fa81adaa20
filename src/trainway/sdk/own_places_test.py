"""Tasks that name their places themselves, from a program that does not."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from trainway.errors import InvalidError, NotFoundError, UsageError
from trainway.json_types import Json
from trainway.sdk import Client
from trainway.sdk.sky import jobs
from trainway.sdk.testing import FakeServer

RESOURCES: Json = {"any_of": [{"infra": "slurm/hpc"}, {"infra": "ssh/lab"}]}
TASK: Json = {"name": "train", "run": "true", "resources": RESOURCES}
ORDERED: Json = {**TASK, "resources": {"ordered": RESOURCES["any_of"]}}


def there(place: str) -> Json:
    return {"name": place.replace("/", "-"), "run": "true", "resources": {"infra": place}}


def asked(fake: FakeServer) -> list[Json]:
    return [body for _, path, body in fake.requests if path.endswith("/placements")]


def sent(fake: FakeServer) -> Json:
    (body,) = [body for _, path, body in fake.requests if path.endswith("/jobs")]
    options: Json = body["options"]
    return options


@dataclass(frozen=True)
class Case:
    name: str
    target: Any
    place: str | None
    prefer: str = ""
    """What counted between several places; empty: nobody was asked."""
    options: Json | None = None


CASES = [
    Case("one place", there("ssh/lab"), "ssh/lab"),
    Case("this machine", there("local"), "local"),
    Case("no place", {"run": "true", "resources": {"cpus": 1}}, None),
    Case("a cloud of nobody", there("ibm"), None),
    Case("any of several", TASK, "ssh/lab", "cost"),
    Case("several in order", ORDERED, "ssh/lab", "order"),
    Case("the program prefers otherwise", TASK, "ssh/lab", "order", {"prefer": "order"}),
    Case("the program says where", TASK, "local", options={"on": "local"}),
    Case("a pipeline in one place", [there("ssh/lab"), there("ssh/lab")], "ssh/lab"),
    Case("a pipeline here", [TASK | {"resources": {"cpus": 1}}, there("local")], None),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_where_a_task_runs(case: Case, fake: FakeServer) -> None:
    fake.places.fits = {"ssh/lab": "now", "slurm/hpc": "never"}
    Client().run(case.target, **(case.options or {}))
    assert sent(fake).get("backend") == case.place
    assert [body["prefer"] for body in asked(fake)] == ([case.prefer] if case.prefer else [])


def test_each_task_of_a_pipeline_goes_to_its_own_places(fake: FakeServer) -> None:
    fake.places.fits = {"ssh/lab": "now", "local": "now", "slurm/hpc": "never"}
    Client().run([{"name": "both"}, TASK, {"name": "rest", "run": "true"}])
    options = sent(fake)
    assert options["placement"] == {
        "train": {"places": ["ssh/lab"], "prefer": "cost"},
        "rest": {"places": ["local"], "prefer": "cost"},
    }
    assert options["backend"] == "ssh/lab"
    assert [other["backend"] for other in options["candidates"]] == ["local"]
    at = datetime(2026, 11, 20, 8, tzinfo=UTC)
    with pytest.raises(UsageError, match="a deadline needs several places"):
        Client().run([TASK, {"name": "rest", "run": "true"}], deadline=at, work=3600)


def test_a_task_that_no_place_takes_is_not_run_here(fake: FakeServer) -> None:
    fake.places.fits = {"ssh/lab": "never", "slurm/hpc": "never"}
    with pytest.raises(InvalidError, match="no place takes the job"):
        Client().run(TASK)


def test_so_do_several_jobs_and_a_schedule(fake: FakeServer) -> None:
    fake.places.fits = {"ssh/lab": "now", "slurm/hpc": "later"}
    Client().run_array(TASK, 2)
    assert sent(fake)["backend"] == "ssh/lab"
    with pytest.raises(NotFoundError):  # the server of this test keeps no schedules
        Client().create_schedule("0 3 * * *", ORDERED)
    schedule = [body for _, path, body in fake.requests if path.endswith("/schedules")][-1]
    assert (schedule["options"]["backend"], schedule["options"]["prefer"]) == ("ssh/lab", "order")


def test_skypilots_call_takes_the_places_of_its_file(fake: FakeServer, tmp_path: Path) -> None:
    file = tmp_path / "task.yaml"
    file.write_text("run: echo hello\nresources: {infra: ssh/lab}\n")
    jobs.launch(file)
    assert sent(fake)["backend"] == "ssh/lab"
