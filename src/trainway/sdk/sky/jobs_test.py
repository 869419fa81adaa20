import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from trainway.errors import ConflictError, NotFoundError, UsageError
from trainway.json_types import Json
from trainway.sdk import sky
from trainway.sdk.conftest import fake
from trainway.sdk.rest import Rest
from trainway.sdk.testing import FakeServer
from trainway.sdk.worker_pool_rest import WorkerPoolRest

__all__ = ["fake"]

TASK: Json = {"name": "hello", "run": "echo hi"}


@dataclass
class Task:
    """As far as `sky.Task` is used."""

    config: Json = field(default_factory=lambda: dict(TASK))

    def to_yaml_config(self) -> dict[str, Any]:
        return self.config


@dataclass
class Dag:
    """As far as `sky.Dag` is used."""

    tasks: list[Task]
    name: str | None = None


@pytest.mark.parametrize("shape", ["dict", "file", "task", "dag"])
def test_a_task_is_launched_in_every_shape(fake: FakeServer, shape: str) -> None:
    Path("hello.yaml").write_text("name: hello\nrun: echo hi\n")
    shapes: dict[str, sky.jobs.TaskLike] = {
        "dict": TASK,
        "file": "hello.yaml",
        "task": Task(),
        "dag": Dag([Task()]),
    }
    request = sky.jobs.launch(shapes[shape], name="given")
    assert isinstance(request, str)
    job_ids, handle = sky.get(request)
    assert (job_ids, handle) == (["id0000"], None)
    job = fake.jobs["id0000"]
    assert (job["metadata"]["name"], job["spec"]["kind"]) == ("given", "Task")
    assert sky.stream_and_get(request) == (["id0000"], None)


def test_what_cannot_be_launched_is_said(fake: FakeServer) -> None:
    with pytest.raises(UsageError, match="is not a task"):
        sky.jobs.launch(7)  # type: ignore[arg-type] # what a program may pass by mistake
    with pytest.raises(UsageError, match="not the name of a worker pool"):
        sky.jobs.launch(TASK, pool="p/q")
    with pytest.raises(UsageError, match="neither a task nor a number of workers"):
        sky.jobs.pool_apply(None, "p")
    with pytest.raises(UsageError, match="name worker pools"):
        sky.jobs.pool_down()
    assert fake.jobs == {}
    with pytest.raises(UsageError, match="not the id of a request"):
        sky.get("1234")  # type: ignore[arg-type] # as above


def test_a_job_for_a_worker_pool(fake: FakeServer) -> None:
    sky.jobs.launch(TASK, pool="warm")
    assert fake.jobs["id0000"]["spec"]["backend"] == "worker-pool/warm"
    fake.jobs["id0000"]["metadata"]["labels"] = {"trainway.dev/worker-pool": "warm"}
    fake.jobs["id0000"]["status"]["worker"] = "warm-1"
    (record,) = sky.get(sky.jobs.queue(all_users=True))
    assert (record["pool"], record["current_cluster_name"]) == ("warm", "warm-1")


def test_several_jobs_of_a_task(fake: FakeServer) -> None:
    job_ids, _ = sky.get(sky.jobs.launch(TASK, num_jobs=2))
    assert job_ids == list(fake.jobs)
    assert len(job_ids) == 2


def test_a_pipeline_has_the_ids_of_all_its_tasks(fake: FakeServer) -> None:
    job_ids, _ = sky.get(sky.jobs.launch(Dag([Task(), Task({"run": "true"})], name="p")))
    assert job_ids == list(fake.jobs)
    assert len(job_ids) == 2
    sky.jobs.cancel(job_ids=job_ids)
    assert {job["status"]["phase"] for job in fake.jobs.values()} == {"Cancelled"}
    asked = [path.split("/")[-2] for _, path, _ in fake.requests if path.endswith("/cancel")]
    assert asked == job_ids[::-1], "or the server would end those behind the first by itself"


def test_the_tasks_of_a_pipeline_are_cancelled_from_the_last_one_whoever_names_them(
    fake: FakeServer,
) -> None:
    job_ids, _ = sky.get(sky.jobs.launch(Dag([Task(), Task({"run": "true"})], name="p")))
    sky.jobs.cancel(all=True)
    asked = [path.split("/")[-2] for _, path, _ in fake.requests if path.endswith("/cancel")]
    assert asked == job_ids[::-1]


def test_the_queue_has_records(fake: FakeServer) -> None:
    fake.add_job("a", "Succeeded")
    fake.add_job("b", "Running")
    records = sky.get(sky.jobs.queue(refresh=False))
    assert [(each["job_name"], each["status"]) for each in records] == [
        ("b", sky.ManagedJobStatus.RUNNING),
        ("a", sky.ManagedJobStatus.SUCCEEDED),
    ]
    assert [each["job_id"] for each in sky.get(sky.jobs.queue(True, skip_finished=True))] == [
        "id0001"
    ]
    assert [each["job_id"] for each in sky.get(sky.jobs.queue(job_ids=["id0000"]))] == ["id0000"]
    sky.jobs.queue(all_users=True)
    assert "label" not in fake.requests[-1][1]


def test_jobs_are_cancelled_by_id_by_name_and_all(fake: FakeServer) -> None:
    for name in ("a", "b", "c", "d"):
        fake.add_job(name, "Running")
    assert sky.get(sky.jobs.cancel(name="a")) is None
    sky.jobs.cancel(job_ids=["id0001"])
    phases = [job["status"]["phase"] for job in fake.jobs.values()]
    assert phases == ["Cancelled", "Cancelled", "Running", "Running"]
    sky.jobs.cancel(all=True)
    assert {job["status"]["phase"] for job in fake.jobs.values()} == {"Cancelled"}
    with pytest.raises(UsageError, match="no jobs are named"):
        sky.jobs.cancel()
    sky.jobs.cancel(job_ids="id0001")
    with pytest.raises(NotFoundError, match="7"):
        sky.jobs.cancel(job_ids=[7])
    with pytest.raises(NotFoundError, match="7"):
        sky.jobs.tail_logs(job_id=7)


def test_jobs_that_have_ended_stop_no_other_from_being_cancelled(
    fake: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        fake.add_job(name, "Running")
    act = Rest.act

    def asked(rest: Rest, ref: str, verb: str) -> Json:
        if ref != "id0002":
            raise ConflictError(f"{ref} has already ended (succeeded) and cannot be cancelled")
        return act(rest, ref, verb)

    monkeypatch.setattr(Rest, "act", asked)
    with (
        pytest.warns(UserWarning, match="id0000 has"),
        pytest.raises(ConflictError, match="id0001"),
    ):
        sky.jobs.cancel(job_ids=["id0000", "id0001", "id0002"])
    assert fake.jobs["id0002"]["status"]["phase"] == "Cancelled"


def test_logs_are_printed_and_the_end_is_told(fake: FakeServer) -> None:
    job = fake.add_job("a", "Failed")
    fake.log(job, "first")
    fake.log(job, "second", rank=1)
    out = io.StringIO()
    assert sky.jobs.tail_logs(name="a", output_stream=out) == 100
    assert out.getvalue() == "(node-0) first\n(node-1) second\n"
    assert sky.jobs.tail_logs(job_id="id0000", follow=False, output_stream=io.StringIO()) is None
    with pytest.raises(UsageError, match="there is no controller"):
        sky.jobs.tail_logs(job_id="id0000", controller=True)
    with pytest.raises(NotFoundError):
        sky.jobs.tail_logs(name="nobody")


def test_the_end_of_a_job_is_waited_for(fake: FakeServer) -> None:
    fake.add_job("a", "Succeeded")
    assert sky.get(sky.jobs.wait(name="a")) == 0
    fake.add_job("b", "Running")
    with pytest.raises(TimeoutError):
        sky.jobs.wait(name="b", timeout=0.05)


def test_the_second_queue_counts(fake: FakeServer) -> None:
    for name, phase in (("a", "Succeeded"), ("b", "Running"), ("c", "Running")):
        fake.add_job(name, phase)
    records, total, counts, unfiltered = sky.get(sky.jobs.queue_v2(limit=1))
    assert [each["job_name"] for each in records] == ["c"]
    assert (total, counts, unfiltered) == (3, {"RUNNING": 2, "SUCCEEDED": 1}, 3)


def test_logs_are_downloaded(fake: FakeServer, tmp_path: Path) -> None:
    fake.log(fake.add_job("a", "Succeeded"), "first")
    found = sky.jobs.download_logs(name="a", local_dir=str(tmp_path / "logs"))
    assert found == {"id0000": str(tmp_path / "logs" / "id0000")}
    assert Path(found["id0000"], "run.log").read_text() == "(node-0) first\n"


def test_the_jobs_of_a_worker_pool_are_cancelled(fake: FakeServer) -> None:
    fake.add_job("a", "Running")
    sky.jobs.cancel(pool="warm", graceful=True)
    assert fake.jobs["id0000"]["status"]["phase"] == "Cancelled"
    with pytest.raises(UsageError, match="name the jobs in one way"):
        sky.jobs.cancel(pool="warm", all=True)


def test_the_logs_of_setups_are_downloaded(
    fake: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake.log(fake.add_job("warm-1-setup", "Succeeded"), "installed")
    workers = [{"id": 1, "setupJob": "id0000"}, {"id": 2, "setupJob": None}]
    warm = {"metadata": {"name": "warm"}, "status": {"workers": workers}}
    monkeypatch.setattr(WorkerPoolRest, "worker_pool", lambda rest, name: warm)
    sky.jobs.pool_sync_down_logs("warm", str(tmp_path))
    (file,) = (tmp_path / "warm").iterdir()
    assert (file.name, file.read_text()) == ("worker-1.log", "(node-0) installed\n")
    with pytest.raises(NotFoundError, match="no logs of worker 2"):
        sky.jobs.pool_sync_down_logs("warm", str(tmp_path), worker_ids=[2])


def test_the_dashboard_is_a_command() -> None:
    with pytest.raises(UsageError, match="cannot open the dashboard"):
        sky.jobs.dashboard()
