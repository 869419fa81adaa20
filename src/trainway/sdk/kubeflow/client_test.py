from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from trainway.json_types import Json
from trainway.runtimes import builtin_runtimes
from trainway.sdk.kubeflow import (
    BuiltinTrainer,
    CustomTrainer,
    CustomTrainerContainer,
    KubernetesBackendConfig,
    LocalProcessBackendConfig,
    TorchTuneConfig,
    TrainerClient,
    TrainJob,
    TrainJobTemplate,
    get_tpu_num_nodes,
    update_trainjob_status,
)
from trainway.sdk.kubeflow.options import Labels, Name
from trainway.sdk.testing import FakeServer


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    monkeypatch.setenv("TRAINWAY_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TRAINWAY_SERVER", raising=False)
    with FakeServer(tmp_path / "home") as server:
        server.runtimes = builtin_runtimes()
        yield server


def train(rate: float = 0.1) -> float:
    return rate


def submitted(fake: FakeServer) -> list[Json]:
    bodies = [
        body for method, path, body in fake.requests if (method, path[-5:]) == ("POST", "/jobs")
    ]
    objects: list[Json] = bodies[-1]["objects"]
    return objects


def nodes(*roles: str) -> list[Json]:
    return [{"role": role, "job": 0, "rank": 0, "phase": "Running"} for role in roles]


def test_a_function_is_trained(fake: FakeServer) -> None:
    client = TrainerClient(KubernetesBackendConfig(namespace="team"))
    name = client.train(
        trainer=CustomTrainer(train, {"rate": 0.5}, num_nodes=2, resources_per_node={"cpu": 2}),
        options=[Labels({"a": "b"})],
    )
    runtime, job = submitted(fake)
    assert (runtime["kind"], runtime["metadata"]["name"]) == (
        "ClusterTrainingRuntime", "torch-distributed"
    )  # fmt: skip
    assert job["metadata"] == {"name": name, "namespace": "team", "labels": {"a": "b"}}
    assert len(name) == 12
    assert name[0].isalpha()
    assert job["spec"]["trainer"]["numNodes"] == 2


def test_a_name_can_be_chosen_and_a_template_be_used(fake: FakeServer) -> None:
    client = TrainerClient(LocalProcessBackendConfig())
    template = TrainJobTemplate(CustomTrainer(train), runtime="jax-distributed")
    assert client.train(**template, options=[Name("mine")]) == "mine"
    assert submitted(fake)[-1]["spec"]["trainer"]["command"][0] == "python"


@pytest.mark.parametrize(
    ("runtime", "trainer", "message"),
    [
        ("torch-distributed", BuiltinTrainer(TorchTuneConfig()), "takes a CustomTrainer"),
        ("torchtune-llama3.2-1b", CustomTrainer(train), "takes a BuiltinTrainer"),
        ("torchtune-llama3.2-1b", CustomTrainerContainer("image"), "takes a BuiltinTrainer"),
        (None, "train", "a str is not a trainer"),
    ],
)
def test_a_trainer_must_fit_its_runtime(
    fake: FakeServer, runtime: str | None, trainer: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        TrainerClient().train(runtime, trainer=trainer)


def test_what_is_not_there_is_a_runtime_error(fake: FakeServer) -> None:
    client = TrainerClient()
    for call in (client.get_job, client.delete_job, client.get_job_events, client.get_runtime):
        with pytest.raises(RuntimeError, match=r'no (job|runtime) "x"'):
            call("x")
    with pytest.raises(RuntimeError, match='no runtime "x"'):
        client.train("x")
    with pytest.raises(RuntimeError, match='no job "x"'):
        list(client.get_job_logs("x"))


def test_jobs_look_as_they_do_in_the_sdk(fake: FakeServer) -> None:
    client = TrainerClient()
    client.train(trainer=CustomTrainer(train, num_nodes=2), options=[Name("a")])
    client.train("deepspeed-distributed", trainer=CustomTrainer(train), options=[Name("b")])
    fake.add_job("plain")
    fake.update(fake.jobs["id0000"], "Running", nodes=nodes("node", "dataset-initializer"))
    fake.update(fake.jobs["id0001"], "Succeeded", nodes=nodes("node", "launcher"))
    a, b = client.get_job("a"), client.get_job("b")
    assert client.list_jobs() == [b, a]
    assert client.list_jobs(client.get_runtime("torch-distributed")) == [a]
    assert (a.status, a.num_nodes, a.runtime.name) == ("Running", 2, "torch-distributed")
    assert a.creation_timestamp == datetime(2026, 11, 15, 5, 10, tzinfo=UTC)
    assert [(step.name, step.pod_name) for step in a.steps] == [
        ("dataset-initializer", "a-dataset-initializer-0-0"),
        ("node-0", "a-node-0-0"),
    ]
    assert (b.status, [(step.name, step.pod_name) for step in b.steps]) == (
        "Complete", [("node-0", "b-launcher-0-0"), ("node-1", "b-node-0-0")]
    )  # fmt: skip


def test_logs_are_those_of_a_step(fake: FakeServer) -> None:
    client = TrainerClient()
    client.train(trainer=CustomTrainer(train), options=[Name("a")])
    client.train("deepspeed-distributed", trainer=CustomTrainer(train), options=[Name("b")])
    a, b = fake.jobs["id0000"], fake.jobs["id0001"]
    fake.log(a, "first", rank=0)
    fake.log(a, "second", rank=1)
    fake.log(b, "launches", role="launcher")
    fake.log(b, "waits", role="node")
    assert list(client.get_job_logs("a")) == ["first"]
    assert list(client.get_job_logs("a", "node-1")) == ["second"]
    assert list(client.get_job_logs("b", "node-0")) == ["launches"]
    assert list(client.get_job_logs("b", "node-1")) == ["waits"]
    fake.update(a, "Succeeded")
    assert list(client.get_job_logs("a", follow=True)) == ["first"]


def test_lines_end_as_they_do_in_the_sdk(fake: FakeServer) -> None:
    client = TrainerClient()
    client.train(trainer=CustomTrainer(train), options=[Name("a")])
    job = fake.jobs["id0000"]
    for text in ("10%\r20%", "", "end"):
        fake.log(job, text)
    fake.update(job, "Succeeded")
    assert list(client.get_job_logs("a")) == ["10%", "20%", "", "end"]
    assert list(client.get_job_logs("a", follow=True)) == ["10%\r20%", "", "end"]


def test_an_odd_job_does_not_hide_the_others(fake: FakeServer) -> None:
    client = TrainerClient()
    client.train(trainer=CustomTrainer(train), options=[Name("a")])
    client.train(trainer=CustomTrainer(train), options=[Name("odd")])
    objects = fake.jobs["id0001"]["spec"]["objects"]
    fake.jobs["id0001"]["spec"]["objects"] = [objects[-1]]
    objects[-1]["spec"]["runtimeRef"]["name"] = "gone"
    odd, usual = client.list_jobs()
    assert (odd.name, odd.runtime.name, odd.runtime.trainer.framework) == ("odd", "gone", "Unknown")
    assert (usual.name, usual.runtime.name) == ("a", "torch-distributed")
    assert client.get_job("odd") == odd


def test_events_come_in_order(fake: FakeServer) -> None:
    client = TrainerClient()
    client.train(trainer=CustomTrainer(train), options=[Name("a")])
    fake.event(fake.jobs["id0000"], "Created", "it was")
    fake.event(fake.jobs["id0000"], "Started")
    first, second = client.get_job_events("a")
    assert (first.reason, first.message, second.reason) == ("Created", "it was", "Started")
    assert (first.involved_object_kind, first.involved_object_name) == ("TrainJob", "a")


def test_waiting_sees_every_change(fake: FakeServer) -> None:
    client = TrainerClient()

    def run(job: Json) -> None:
        fake.update(job, "Running")
        fake.update(job, "Succeeded")

    seen: list[TrainJob] = []
    client.train(trainer=CustomTrainer(train), options=[Name("a")])
    job = fake.jobs["id0000"]
    fake.update(job, "Running")
    assert client.wait_for_job_status("a", {"Running"}).status == "Running"
    run(job)
    done = client.wait_for_job_status("a", callbacks=[seen.append])
    assert (done.status, seen[-1]) == ("Complete", done)
    fake.update(job, "Failed")
    with pytest.raises(RuntimeError, match="TrainJob a is Failed"):
        client.wait_for_job_status("a")
    assert client.wait_for_job_status("a", {"Failed"}).status == "Failed"


def test_waiting_may_take_too_long(fake: FakeServer) -> None:
    client = TrainerClient()
    client.train(trainer=CustomTrainer(train), options=[Name("a")])
    short: Any = {"timeout": 0.05, "polling_interval": 0.01}
    with pytest.raises(TimeoutError, match=r"TrainJob a is not Complete in 0\.05 s"):
        client.wait_for_job_status("a", **short)


@pytest.mark.parametrize(
    "options",
    [{"status": {"Paused"}}, {"polling_interval": 0}, {"timeout": 2, "polling_interval": 2}],
)
def test_waiting_for_nonsense_is_refused(fake: FakeServer, options: Any) -> None:
    with pytest.raises(ValueError, match="must be"):
        TrainerClient().wait_for_job_status("a", **options)


def test_runtimes_are_listed(fake: FakeServer) -> None:
    fake.runtimes.append({"kind": "ClusterTrainingRuntime", "metadata": {"name": "unlabelled"}})
    runtimes = {runtime.name: runtime for runtime in TrainerClient().list_runtimes()}
    assert "unlabelled" not in runtimes
    torch, deepspeed = runtimes["torch-distributed"], runtimes["deepspeed-distributed"]
    assert torch.trainer.command == ("torchrun",)
    assert (deepspeed.trainer.command, deepspeed.trainer.device_count) == (
        ("mpirun", "python"),
        "1",
    )
    tune = runtimes["torchtune-llama3.2-1b"].trainer
    assert (tune.command, tune.device, tune.device_count) == (("tune", "run"), "gpu", "2")


def test_packages_of_a_runtime_are_printed(
    fake: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(job: Json) -> None:
        fake.log(job, "pip 1.0")
        fake.update(job, "Succeeded")

    fake.on_submit = run
    client = TrainerClient()
    client.get_runtime_packages(client.get_runtime("torch-distributed"))
    assert capsys.readouterr().out == "pip 1.0\n"
    assert fake.jobs == {}
    with pytest.raises(ValueError, match="shows no packages"):
        client.get_runtime_packages(client.get_runtime("torchtune-llama3.2-1b"))


def test_a_report_from_nowhere_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBEFLOW_TRAINER_SERVER_URL", raising=False)
    assert not update_trainjob_status(50, 10, {"loss": 0.1})
    monkeypatch.setenv("KUBEFLOW_TRAINER_SERVER_URL", "https://localhost:1/x")
    monkeypatch.setenv("KUBEFLOW_TRAINER_SERVER_TOKEN", "/no/such/file")
    assert not update_trainjob_status(50)


@pytest.mark.parametrize(
    ("slices", "topology", "hosts", "count"),
    [(1, "2x2", 4, 1), (2, "4x4", 4, 8), (3, "2x2x2", 4, 6), (1, "1x1", 4, 1), (1, "2X4", 8, 1)],
)
def test_hosts_of_slices_are_counted(slices: int, topology: str, hosts: int, count: int) -> None:
    assert get_tpu_num_nodes(slices, topology, hosts) == count


@pytest.mark.parametrize(
    ("slices", "topology", "hosts"),
    [(0, "2x2", 4), (1, "", 4), (1, "2", 4), (1, "axb", 4), (1, "0x2", 4), (1, "3x3", 4)],
)
def test_slices_that_cannot_be_are_refused(slices: int, topology: str, hosts: int) -> None:
    with pytest.raises(ValueError, match=r"must be|is written|cannot be shared"):
        get_tpu_num_nodes(slices, topology, hosts)
