"""A job that may run in several places, from a program."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from trainway.errors import InvalidError, NotFoundError, UsageError
from trainway.jobset.labels import SLURM_OPTIONS
from trainway.json_types import Json
from trainway.sdk import Client
from trainway.sdk.testing import FakeServer

TRAIN: Json = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "train"},
    "spec": {"runtimeRef": {"name": "torch-distributed"}},
}


def test_a_choice_of_places_is_left_to_the_server(fake: FakeServer) -> None:
    client = Client()
    fake.places.fits = {"ssh/lab": "now", "local": "later"}
    client.run(TRAIN, on="local,ssh/lab/,ssh/lab")
    client.run(TRAIN, on="any", prefer="order")
    asked = [body for _, path, body in fake.requests if path.endswith("/placements")]
    assert [body["prefer"] for body in asked] == ["order", "order"]
    assert [len(body["candidates"]) for body in asked] == [2, 2]
    sent = [body for _, path, body in fake.requests if path.endswith("/jobs")]
    assert [body["options"]["backend"] for body in sent] == ["ssh/lab", "ssh/lab"]
    fake.places.fits = {"local": "never"}
    with pytest.raises(InvalidError, match="no place takes the job"):
        client.run(TRAIN, on="any")
    with pytest.raises(UsageError, match="'luck' is not a preference"):
        client.run(TRAIN, on="any", prefer="luck")


def test_the_other_places_go_along_where_waiting_has_a_limit(fake: FakeServer) -> None:
    client = Client()
    fake.places.fits = {"ssh/lab": "later", "local": "later", "slurm/hpc": "never"}
    client.run(TRAIN, on="ssh/lab,local,slurm/hpc", max_wait=60)
    (sent,) = [body["options"] for _, path, body in fake.requests if path.endswith("/jobs")]
    assert (sent["backend"], sent["max_wait"]) == ("ssh/lab", 60)
    assert [other["backend"] for other in sent["candidates"]] == ["local"]
    assert "environ" in sent["candidates"][0]
    with pytest.raises(UsageError, match="max_wait needs several places"):
        client.run(TRAIN, on="local", max_wait=60)


def test_the_other_places_go_along_with_a_strategy_of_recovery(fake: FakeServer) -> None:
    client = Client()
    fake.places.fits = {"ssh/lab": "now", "local": "now"}
    client.run(TRAIN, on="ssh/lab,local", recovery_strategy="failover")
    client.run(TRAIN, on="ssh/lab,local", recovery_strategy="none")
    client.run(TRAIN, on="ssh/lab", recovery_strategy="failover")
    sent = [body["options"] for _, path, body in fake.requests if path.endswith("/jobs")]
    assert [each["recovery_strategy"] for each in sent] == ["failover", "none", "failover"]
    assert [other["backend"] for other in sent[0]["candidates"]] == ["local"]
    assert sent[0]["max_wait"] is None
    assert "candidates" not in sent[1]
    with pytest.raises(UsageError, match="eager-next needs several places"):
        client.run(TRAIN, on="local", recovery_strategy="eager-next")
    with pytest.raises(UsageError, match="'retry' is not a strategy of recovery"):
        client.run(TRAIN, recovery_strategy="retry")


def test_options_of_slurm_leave_no_other_place_out(fake: FakeServer) -> None:
    fake.places.fits = {"slurm/hpc": "now", "local": "now"}
    told: Json = {"recovery_strategy": "failover", "slurm": {"no-requeue": True}}
    Client().run(TRAIN, on="slurm/hpc,local", **told)
    fake.places.fits = {"local": "now", "slurm/hpc": "now"}
    Client().run(TRAIN, on="local,slurm/hpc", **told)
    first, second = [body for _, path, body in fake.requests if path.endswith("/jobs")]
    assert [other["backend"] for other in first["options"]["candidates"]] == ["local"]
    assert SLURM_OPTIONS in first["objects"][0]["metadata"]["annotations"]
    assert SLURM_OPTIONS not in str(first["options"]["candidates"])
    assert SLURM_OPTIONS not in str(second["objects"])
    assert SLURM_OPTIONS in str(second["options"]["candidates"])
    with pytest.raises(InvalidError, match="options of Slurm can only be used"):
        Client().run(TRAIN, on="ssh/lab,local", slurm={"qos": "high"})


def test_the_last_place_is_the_sure_one_of_a_deadline(fake: FakeServer) -> None:
    client = Client()
    fake.places.fits = {"ssh/lab": "later", "local": "now"}
    at = datetime(2026, 11, 20, 8, tzinfo=UTC)
    client.run(TRAIN, on="ssh/lab, local", deadline=at, work=3600)
    (sent,) = [body["options"] for _, path, body in fake.requests if path.endswith("/jobs")]
    told = {name: sent[name] for name in ("deadline", "work", "sure")}
    assert told == {"deadline": "2026-11-20T08:00:00+00:00", "work": 3600, "sure": "local"}
    client.run(TRAIN, on="aws", use_spot=True, deadline=at, work=3600)
    sent = [body["options"] for _, path, body in fake.requests if path.endswith("/jobs")][-1]
    assert (sent["backend"], sent["use_spot"], sent["deadline"]) == ("aws", True, told["deadline"])
    with pytest.raises(UsageError, match="deadline and work belong together"):
        client.run(TRAIN, on="ssh/lab,local", deadline=at)
    with pytest.raises(UsageError, match="a deadline needs several places"):
        client.run(TRAIN, on="any", deadline=at, work=3600)


def test_each_task_of_a_pipeline_is_placed_on_its_own(fake: FakeServer) -> None:
    fake.places.fits = {"ssh/lab": "now", "local": "later", "slurm/hpc": "never"}
    tasks = [{"name": "p"}, {"name": "a", "run": "true"}, {"name": "b", "run": "true"}]
    Client().run(tasks, on="local,ssh/lab,slurm/hpc", max_wait=60)
    asked = [body for _, path, body in fake.requests if path.endswith("/placements")]
    assert [body["task"] for body in asked] == ["a", "b"]
    assert all(each["options"]["pipeline"] for each in asked[0]["candidates"])
    (sent,) = [body["options"] for _, path, body in fake.requests if path.endswith("/jobs")]
    places = {"places": ["ssh/lab", "local"], "prefer": "order"}
    assert sent["placement"] == {"a": places, "b": places}
    assert (sent["backend"], sent["pipeline"], sent["max_wait"]) == ("ssh/lab", True, 60)
    assert [other["backend"] for other in sent["candidates"]] == ["local"]
    with pytest.raises(UsageError, match="'luck' is not a preference"):
        Client().run(tasks, on="any", prefer="luck")
    at = datetime(2026, 11, 20, 8, tzinfo=UTC)
    Client().run(tasks, on="ssh/lab,local", deadline=at, work=3600)
    sent = [body["options"] for _, path, body in fake.requests if path.endswith("/jobs")][-1]
    assert (sent["work"], sent["sure"], "placement" in sent) == (3600, "local", True)
    with pytest.raises(UsageError, match="deadline and work belong together"):
        Client().run(tasks, on="ssh/lab,local", deadline=at)


def test_the_jobs_of_a_grid_may_go_to_other_places_too(fake: FakeServer, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("pass")
    client = Client()
    fake.places.fits = {"ssh/lab": "now", "local": "now"}
    options: Json = {"on": "ssh/lab,local", "recovery_strategy": "eager-next"}
    client.run(script, grid={"lr": [1, 2]}, **options)
    (sent,) = [body for _, path, body in fake.requests if path.endswith("/jobs")]
    (other,) = sent["options"]["candidates"]
    assert (sent["options"]["backend"], other["backend"]) == ("ssh/lab", "local")
    assert len(sent["options"]["parameters"]) == 2
    assert "{lr}" in json.dumps(sent["objects"])
    assert "{lr}" in json.dumps(other["objects"])


def test_the_place_of_a_schedule_is_chosen_each_time(fake: FakeServer) -> None:
    fake.places.fits = {"ssh/lab": "now", "local": "later"}
    with pytest.raises(NotFoundError):  # the server of this test keeps no schedules
        Client().create_schedule("0 3 * * *", TRAIN, on="ssh/lab,local")
    sent = [body for _, path, body in fake.requests if path.endswith("/schedules")][-1]
    options = sent["options"]
    assert (options["backend"], options["prefer"]) == ("ssh/lab", "order")
    assert [other["backend"] for other in options["candidates"]] == ["local"]


def test_options_of_slurm_leave_no_place_of_a_schedule_out(fake: FakeServer) -> None:
    for on in ("slurm/hpc,local", "local,slurm/hpc"):
        fake.places.fits = dict.fromkeys(on.split(","), "now")
        with pytest.raises(NotFoundError):  # as above
            Client().create_schedule("0 3 * * *", TRAIN, on=on, slurm={"qos": "high"})
    first, second = [body for _, path, body in fake.requests if path.endswith("/schedules")]
    for sent, place, other in ((first, "slurm/hpc", "local"), (second, "local", "slurm/hpc")):
        assert sent["options"]["backend"] == place
        assert [each["backend"] for each in sent["options"]["candidates"]] == [other]
    assert SLURM_OPTIONS in str(first["objects"])
    assert SLURM_OPTIONS not in str(second["objects"])
