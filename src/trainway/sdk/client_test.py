import base64
import json
import pickle
import sys
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

import trainway
from trainway.errors import (
    InvalidError,
    NotFoundError,
    TrainwayError,
    UnreadableError,
    UsageError,
)
from trainway.json_types import Json
from trainway.sdk import Client, Job, JobFailedError, Run, WaitTimeoutError, submitter
from trainway.sdk.metric_history import MetricHistory
from trainway.sdk.run_options import RunOptions
from trainway.sdk.testing import FakeServer

TRAIN = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "a"},
    "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": {"numNodes": 3}},
}


@pytest.fixture(params=[True, False], ids=["torch", "no torch"])
def torch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr("trainway.sdk.targets.has_torch", lambda: request.param)
    monkeypatch.setattr("trainway.sdk.targets.has_own_torch", lambda: request.param)
    return bool(request.param)


def submitted(fake: FakeServer) -> tuple[list[Json], Json]:
    method, path, body = fake.requests[0]
    assert (method, path) == ("POST", "/api/v1/jobs")
    return body["objects"], body["options"]


def double(x: int) -> int:
    return 2 * x


def test_the_names_of_the_package_are_those_of_the_sdk() -> None:
    assert trainway.Client is Client
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        trainway.nothing  # noqa: B018 - the attribute is the test
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        trainway.sdk.nothing  # noqa: B018 - the attribute is the test


def test_a_function_is_submitted_as_its_source(fake: FakeServer, torch: bool) -> None:
    job = Client().run(
        double, args=[21], nodes=2, cpus=0.5, memory="1Gi", env={"A": "1"}, priority=3
    )
    objects, options = submitted(fake)
    assert job.name == "double"
    assert (options["priority"], options["workdir"]) == (3, str(Path.cwd()))
    if torch:
        runtime, made = objects
        trainer = made["spec"]["trainer"]
        assert runtime["metadata"]["name"] == "torch-distributed"
        assert trainer["command"][2:6] == ["torch.distributed.run", "--no-python", "python", "-c"]
        assert trainer["numNodes"] == 2
        assert trainer["resourcesPerNode"] == {
            "requests": {"cpu": "0.5", "memory": "1Gi"},
            "limits": {"memory": "1Gi"},
        }
        assert "return 2 * x" in trainer["args"][1]
    else:
        (made,) = objects
        (role,) = made["spec"]["replicatedJobs"]
        assert role["template"]["spec"]["completions"] == 2
        (container,) = role["template"]["spec"]["template"]["spec"]["containers"]
        assert container["command"][:2] == ["python", "-c"]
        assert container["env"] == [{"name": "A", "value": "1"}]


def test_several_jobs_are_one_request(fake: FakeServer) -> None:
    jobs = Client().run_array(TRAIN, 3, priority=2)
    assert [job.name for job in jobs] == ["a-0", "a-1", "a-2"]
    assert len(fake.requests) == 1
    objects, options = submitted(fake)
    assert objects == [TRAIN]
    assert (options["num_jobs"], options["priority"]) == (3, 2)
    with pytest.raises(TypeError, match="nothing"):
        Client().run_array(TRAIN, 3, nothing=1)


def test_what_runs_several_times_is_asked_for_as_what_runs_once() -> None:
    run = {name: item.default for name, item in signature(Client.run).parameters.items()}
    options = {field.name: field.default for field in fields(RunOptions)}
    several = ("grid", "sweep", "parallel")
    assert {name: run[name] for name in list(run)[2:] if name not in several} == options


def test_a_grid_is_one_request_with_the_parameters_of_each_job(fake: FakeServer) -> None:
    run = Client().run(TRAIN, grid={"lr": [0.1, "1e-3"], "bias": [True]}, parallel=1, priority=2)
    assert isinstance(run, Run)
    assert (run.name, len(run), [job.name for job in run]) == ("a", 2, ["a-0", "a-1"])
    objects, options = submitted(fake)
    assert (objects, options["priority"], options["parallel"]) == ([TRAIN], 2, 1)
    assert options["parameters"] == [{"lr": "0.1", "bias": "true"}, {"lr": "1e-3", "bias": "true"}]
    assert options["placeholders"]
    assert [each.name for each in Client().runs()] == ["a"]
    for job in fake.jobs.values():
        fake.update(job, "Failed")
    assert run.wait() == "Failed"
    assert [job.name for job in run.rerun(failed=True)] == ["a-0", "a-1"]
    run.delete()
    with pytest.raises(NotFoundError):
        run.refresh()


def test_a_function_keeps_its_text_and_a_script_gets_options(
    fake: FakeServer, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text("")
    Client().run(script, args=["--wd={wd}"], grid={"lr": [1], "wd": [2]})
    assert '"--wd={wd}", "--lr", "{lr}"' in json.dumps(submitted(fake)[0])
    fake.requests.clear()
    Client().run(double, grid={"x": [1]}, name="f")
    assert not submitted(fake)[1]["placeholders"]
    limited: Any = {"parallel": 2}
    with pytest.raises(UsageError, match="parallel is for several jobs"):
        Client().run(TRAIN, **limited)


@pytest.mark.parametrize("several", [False, True])
def test_a_task_may_be_a_dict(fake: FakeServer, several: bool) -> None:
    task = {"name": "mine", "run": "echo $A", "envs": {"A": 1}}
    target: Any = [task, {"name": "second", "run": "x"}] if several else task
    made_of: Any = Client().run(target, env={"A": "2"})
    objects, options = submitted(fake)
    assert type(made_of).__name__ == ("Run" if several else "Job")
    assert options.get("pipeline", False) is several
    (made,) = [obj for obj in objects if obj["kind"] == "Task"]
    assert made["metadata"]["name"] == "mine"
    tasks = [item["task"] for item in made["spec"]["tasks"]]
    assert [item["run"] for item in tasks] == (["echo $A", "x"] if several else ["echo $A"])
    assert tasks[0]["envs"] == {"A": "2"}


@pytest.mark.parametrize("form", [dict, list, "yaml", "json"], ids=str)
def test_objects_are_submitted_as_they_are(fake: FakeServer, form: Any) -> None:
    path = Path(f"job.{form}")
    if isinstance(form, str):
        path.write_text(json.dumps(TRAIN))
    target = path if isinstance(form, str) else TRAIN if form is dict else [TRAIN]
    job = Client().run(target)
    assert submitted(fake)[0] == [TRAIN]
    assert repr(job) == "<Job a id0000 Pending>"


def test_a_script_is_submitted_with_its_arguments(fake: FakeServer, torch: bool) -> None:
    Path("train.py").write_text("")
    Client().run("train.py", args=["--lr", 0.1], on="local", restarts=2, oversubscribe=True)
    objects, options = submitted(fake)
    assert (options["backend"], options["oversubscribe"]) == ("local", True)
    spec = objects[-1]["spec"]
    if torch:
        assert spec["trainer"]["command"] == ["torchrun", "train.py"]
        assert spec["trainer"]["args"] == ["--lr", "0.1"]
    else:
        (role,) = spec["replicatedJobs"]
        (container,) = role["template"]["spec"]["template"]["spec"]["containers"]
        assert container["command"] == ["python", "train.py", "--lr", "0.1"]
        assert spec["failurePolicy"] == {"maxRestarts": 2}


@pytest.mark.parametrize(
    ("target", "options", "kind", "message"),
    [
        ("train.txt", {}, UsageError, "neither a Python script nor a manifest"),
        ("no.py", {}, UnreadableError, "no.py: No such file or directory"),
        ("no.yaml", {}, UnreadableError, "no.yaml: No such file or directory"),
        ("bad.yaml", {}, UnreadableError, "bad.yaml: line 2, column 1"),
        ("latin.yaml", {}, UnreadableError, "latin.yaml: not UTF-8"),
        ("train.py", {"kwargs": {"x": 1}}, UsageError, "kwargs are for functions"),
        ({"kind": "Secret"}, {}, UsageError, "it contains no job, only Secret$"),
        ({"kind": "Trainjob"}, {}, UsageError, r'only Trainjob; did you mean "TrainJob"\?'),
        ([TRAIN, TRAIN], {}, UsageError, "it contains 2 jobs: a, a"),
        (lambda: 1, {}, UsageError, "a lambda cannot be sent"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_run_is_refused(
    fake: FakeServer, target: Any, options: Json, kind: type[Exception], message: str
) -> None:
    Path("bad.yaml").write_text("[")
    Path("latin.yaml").write_bytes(b"\xff")
    with pytest.raises(kind, match=message):
        Client().run(target, **options)
    assert fake.requests == []


def test_warnings_and_refusals_of_the_server_are_passed_on(fake: FakeServer) -> None:
    fake.warnings = ["the image is not used"]
    with pytest.warns(UserWarning, match="the image is not used"):
        Client().run(TRAIN)
    error = {"code": "invalid", "message": "no"}
    fake.refusal = (422, {"error": error, "errors": ["TrainJob/a: no"]})
    with pytest.raises(InvalidError, match="TrainJob/a: no"):
        Client().run(TRAIN)


def ending(fake: FakeServer, phase: str, **status: Any) -> Callable[[Json], None]:
    def end(job: Json) -> None:
        fake.update(job, "Running")
        fake.update(job, phase, **status)

    return end


def test_a_job_is_a_future(fake: FakeServer, tmp_path: Path) -> None:
    fake.results["id0000"] = {"encoding": "json", "value": 42}
    fake.on_submit = ending(fake, "Succeeded", outputDir=str(tmp_path))
    job = Client().run(double, args=[21])
    assert job.result(timeout=60) == 42
    assert (job.done(), job.status, job.exception()) == (True, "Succeeded", None)
    assert job.output_dir == tmp_path


def test_a_pickled_value_comes_back_to_those_who_allow_it(fake: FakeServer) -> None:
    pickled = base64.b64encode(pickle.dumps(1j)).decode()
    value = {"encoding": "pickle", "type": "complex", "value": pickled}
    fake.results |= {"id0000": value, "id0001": value}
    fake.on_submit = ending(fake, "Succeeded")
    job = Client().run(double, args=[21])
    with pytest.raises(TrainwayError, match="returned a complex"):
        job.result(timeout=60)
    assert job.result(allow_pickle=True) == 1j
    assert Client().run(double, args=[21], allow_pickle=True).result(timeout=60) == 1j


def test_a_job_that_is_no_function_has_no_result(fake: FakeServer, tmp_path: Path) -> None:
    fake.add_job("a", "Succeeded", outputDir=str(tmp_path))
    assert Client().job("a").result() is None


def test_a_failure_brings_the_last_lines_of_who_failed(fake: FakeServer) -> None:
    failure = {"summary": "node-1 exited with 1", "role": "node", "job": 0, "rank": 1}
    job = fake.add_job("a", "Failed", reason="FailedJobs", message="why", failure=failure)
    fake.log(job, "stopped", rank=0)
    for number in range(30):
        fake.log(job, f"line {number}", rank=1)
    with pytest.raises(JobFailedError) as caught:
        Client().job("a").result()
    first, *lines = caught.value.message.splitlines()
    assert first == "a has failed: node-1 exited with 1"
    assert lines == [f"  line {number}" for number in range(10, 30)]
    assert caught.value.log[-1] == "line 29"


def test_a_job_that_was_cancelled_has_failed(fake: FakeServer) -> None:
    fake.add_job("a", "Running")
    job = Client().job("a")
    job.cancel()
    assert str(job.exception()) == "a has cancelled: Cancelled"


def test_waiting_may_take_too_long(fake: FakeServer) -> None:
    fake.add_job("a", "Running")
    with pytest.raises(TimeoutError, match=r"a is Running after 0\.05 s"):
        Client().job("a").wait(timeout=0.05)
    with pytest.raises(WaitTimeoutError):
        Client().job("a").result(timeout=0)


def test_waiting_for_a_job_that_is_deleted_ends(fake: FakeServer) -> None:
    fake.add_job("a", "Running")
    job = Client().job("a")
    fake.break_after = 1
    del fake.jobs["id0000"]
    with pytest.raises(NotFoundError):
        job.wait()


def test_logs_events_and_metrics_are_read(fake: FakeServer) -> None:
    metrics = [{"name": "loss", "value": "0.5"}, {"name": "note", "value": "fine"}]
    progress = {"progressPercentage": 45, "metrics": metrics}
    data = fake.add_job("a", "Running", progress=progress)
    fake.log(data, "one", rank=0)
    fake.log(data, "two", rank=1)
    fake.event(data, "Created")
    job = Client().job("a")
    assert [str(line) for line in job.logs()] == ["one", "two"]
    assert [line.node for line in job.logs(rank=1)] == ["node-1"]
    assert [line.text for line in job.logs(tail=1)] == ["two"]
    assert [event["reason"] for event in job.events()] == ["Created"]
    assert (job.progress, job.last_metrics()) == (45.0, {"loss": 0.5, "note": "fine"})


def test_the_history_of_metrics_is_plain_lists(fake: FakeServer) -> None:
    points = [{"step": 1, "time": "2026-11-15T05:10:00.000000Z", "value": 0.5}]
    data = fake.add_job("a", "Running")
    fake.metrics[data["metadata"]["id"]] = {"loss": points}
    job = Client().job("a")
    assert job.metrics() == {"loss": points}
    assert job.metrics("loss", "a b", resolution=4) == {"loss": points}
    assert fake.requests[-1][1].endswith("/metrics?series=loss&series=a+b&resolution=4")


def test_without_pandas_a_frame_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="pandas is not installed"):
        MetricHistory({"loss": []}).frame()


@pytest.mark.parametrize(
    "since", [timedelta(minutes=5), datetime(2026, 11, 15, 5, tzinfo=UTC)], ids=str
)
def test_logs_since_a_time_are_asked_for(fake: FakeServer, since: timedelta | datetime) -> None:
    fake.add_job("a", "Running")
    assert list(Client().job("a").logs(since=since)) == []
    assert "since=2" in fake.requests[-1][1]


def test_jobs_are_found_and_changed(fake: FakeServer) -> None:
    client = Client()
    fake.add_job("a", "Succeeded")
    fake.add_job("b", "Running")
    assert [job.name for job in client.jobs()] == ["b", "a"]
    assert [job.name for job in client.jobs(active=True)] == ["b"]
    job = client.job("b")
    job.suspend()
    assert job.status == "Paused"
    job.resume()
    assert job.status == "Running"
    again = job.rerun()
    assert (again.name, again.id) == ("b", "id0002")
    assert again.delete() == ""
    assert len(client.jobs()) == 2
    fake.remains["id0001"] = "a pod may be left"
    assert job.delete(force=True) == "a pod may be left"
    assert (client.runtimes(), client.backends()) == ([], [])


def test_a_function_in_pods_keeps_what_its_job_was_told(fake: FakeServer) -> None:
    Client().run(double, args=[21], on="k8s/test", timeout=90, nodes=2)
    Client().run(double, args=[21], on="k8s/test", runtime="torch-distributed", restarts=2)
    sent = [body["objects"][-1] for method, _, body in fake.requests if method == "POST"]
    assert [job["metadata"]["annotations"] for job in sent] == [
        {
            "trainway.dev/timeout-seconds": "90",
            "trainway.dev/pack": "false",
            "trainway.dev/function": "double",
        },
        {"trainway.dev/max-restarts": "2", "trainway.dev/function": "double"},
    ]


def test_a_value_that_was_lost_with_its_pod_is_an_error(fake: FakeServer) -> None:
    fake.on_submit = ending(fake, "Succeeded")
    job = Client().run(double, args=[21], on="k8s/test")
    with pytest.raises(NotFoundError, match="the value that double returned is lost"):
        job.result(timeout=60)
    fake.results[job.id] = {"encoding": "json", "value": 42}
    assert job.result() == 42


@pytest.mark.filterwarnings("default")
def test_files_that_a_job_names_and_that_do_not_travel_are_told(fake: FakeServer) -> None:
    Path("train.py").write_text("")
    Path("data.csv").write_text("")
    with pytest.warns(UserWarning, match=r"data\.csv is here and does not travel to the pods"):
        Client().run("train.py", args=["--data=data.csv"], on="k8s/test")
    objects, options = submitted(fake)
    assert options["backend"] == "k8s/test"
    assert [item["kind"] for item in objects] == ["ConfigMap", "JobSet"]


def test_a_server_can_be_named(fake: FakeServer) -> None:
    fake.add_job("a")
    client = Client(f"unix:{fake.socket}", token="t")  # noqa: S106 - no secret
    assert isinstance(client.job("a"), Job)
    assert str(client.address) == f"unix:{fake.socket}"


def test_torch_is_looked_for_where_the_job_would_find_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(submitter, "_bin", lambda: "/nowhere")
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert not submitter.has_torch()
    (tmp_path / "torchrun").touch(0o755)
    assert submitter.has_torch()
