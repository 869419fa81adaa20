"""The SDK as programs use it: real server, real agents, real processes."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from environments import require_mpirun
from gate import Gate
from installation import TIMEOUT_S, Installation, installed, kill, processes_of

from trainway import AsyncClient, Client
from trainway.errors import ConflictError
from trainway.sdk import JobFailedError
from trainway.sdk.kubeflow import (
    CustomTrainer,
    GridSearch,
    OptimizerClient,
    Search,
    TrainerClient,
    TrainJobTemplate,
    TrialConfig,
)
from trainway.sdk.kubeflow.options import Name
from trainway.training import MPIJob, State, TrainJob

SCALE = 10


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installed(tmp_path_factory.mktemp("home")) as installation:
        yield installation


@pytest.fixture
def client(home: Installation, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setenv("TRAINWAY_HOME", str(home.home))
    monkeypatch.delenv("TRAINWAY_SERVER", raising=False)
    # As on a machine without torch: functions are then started by Python itself.
    monkeypatch.setattr("trainway.sdk.targets.has_own_torch", lambda: False)
    return Client()


def scaled(x: int, *, by: int = 2) -> Any:
    print("scaling", x, flush=True)  # noqa: T201 - the job's log
    return {"value": x * by * SCALE, "rank": os.environ["JOB_COMPLETION_INDEX"]}


def failing(reason: str) -> None:
    print("so far so good", flush=True)  # noqa: T201 - the job's log
    raise ValueError(reason)


def test_a_function_comes_back_with_its_value(client: Client) -> None:
    job = client.run(scaled, args=[2], kwargs={"by": 3}, nodes=2)
    assert job.result(timeout=TIMEOUT_S) == {"value": 60, "rank": "0"}
    assert sorted(line.node for line in job.logs()) == ["node-0", "node-1"]
    assert {line.text for line in job.logs(rank=1)} == {"scaling 2"}
    assert job.status == "Succeeded"


def test_a_failure_tells_its_reason(client: Client) -> None:
    job = client.run(failing, args=["out of luck"])
    with pytest.raises(JobFailedError) as caught:
        job.result(timeout=TIMEOUT_S)
    log = list(caught.value.log)
    log.remove("so far so good")  # of another stream: it may stand anywhere
    assert log[-1] == "ValueError: out of luck"
    assert "node-0 exited with 1" in str(caught.value)


def test_values_are_not_changed_on_the_way(client: Client) -> None:
    strange = {"text": "$(HOME) $$ `id` ä \\n\n", "set": {1, 2}, "bytes": b"\x00\xff"}
    assert client.run(identity, args=[strange]).result(timeout=TIMEOUT_S) == strange


def identity(value: Any) -> Any:
    return value


def test_a_server_killed_while_a_program_waits_changes_nothing(
    client: Client, home: Installation, gate: Gate
) -> None:
    job = client.run(
        {
            "apiVersion": "jobset.x-k8s.io/v1alpha2",
            "kind": "JobSet",
            "metadata": {"name": "waits"},
            "spec": {"replicatedJobs": [{"name": "main", "template": template(gate)}]},
        }
    )
    visitor = gate.next()
    lines = job.logs(follow=True)
    assert next(lines).text == "me at the gate"
    kill(home.server_pid())
    visitor.let_go()
    assert [line.text for line in lines] == ["me through the gate"]
    assert job.wait(timeout=TIMEOUT_S) == "Succeeded"


def template(gate: Gate) -> dict[str, Any]:
    container = {"name": "main", "command": gate.command("me")}
    pod = {"restartPolicy": "Never", "containers": [container]}
    return {"spec": {"backoffLimit": 0, "template": {"spec": pod}}}


def test_cancelling_leaves_no_process(client: Client) -> None:
    job = client.run(sleeping)
    assert next(job.logs(follow=True)).text == "asleep"
    job.cancel()
    assert (job.status, processes_of(job.id)) == ("Cancelled", [])


def sleeping() -> None:
    import time  # noqa: PLC0415 - in the job

    print("asleep", flush=True)  # noqa: T201 - the job's log
    time.sleep(600)


def test_many_jobs_can_be_awaited_at_once(client: Client) -> None:
    async def main() -> list[Any]:
        jobs = await asyncio.gather(*(AsyncClient().run(identity, args=[n]) for n in range(4)))
        return await asyncio.gather(*(job.result(timeout=TIMEOUT_S) for job in jobs))

    assert asyncio.run(main()) == [0, 1, 2, 3]


def test_a_notebook_for_kubeflow_runs(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    trainer = TrainerClient()
    runtime = trainer.get_runtime("jax-distributed")
    name = trainer.train(
        runtime=runtime,
        trainer=CustomTrainer(scaled, {"x": 3}, num_nodes=2, env={"A": "1"}),
        options=[Name("notebook")],
    )
    assert name == "notebook"
    seen: list[str] = []
    job = trainer.wait_for_job_status(name, callbacks=[lambda job: seen.append(job.status)])
    assert (job.status, seen[-1], job.num_nodes) == ("Complete", "Complete", 2)
    assert [step.name for step in job.steps] == ["node-0", "node-1"]
    assert list(trainer.get_job_logs(name, step="node-1")) == ["scaling 3"]
    assert [job.name for job in trainer.list_jobs(runtime)] == ["notebook"]
    assert trainer.get_job_events(name)
    trainer.delete_job(name)
    with pytest.raises(RuntimeError, match="notebook"):
        trainer.get_job(name)
    trainer.get_runtime_packages(runtime)
    assert "pytest" in capsys.readouterr().out


def reported(rate: str, size: int) -> None:
    from trainway.sdk.reporting import report  # noqa: PLC0415 - the function travels by itself

    print("trying", rate, size, flush=True)  # noqa: T201 - the job's log
    report(step=1, loss=(float(rate) - 3) ** 2)


def test_a_search_for_kubeflow_runs(client: Client) -> None:
    optimizer = OptimizerClient()
    name = optimizer.optimize(
        TrainJobTemplate(CustomTrainer(reported, {"size": 7}), runtime="jax-distributed"),
        trial_config=TrialConfig(num_trials=3, parallel_trials=2),
        search_space={"rate": Search.choice([1, 3, 5])},
        algorithm=GridSearch(),
    )
    job = optimizer.wait_for_job_status(name, timeout=300)
    assert (job.status, job.trial_config.num_trials) == ("Complete", 3)
    assert [trial.parameters for trial in job.trials] == [
        {"rate": "1"},
        {"rate": "3"},
        {"rate": "5"},
    ]
    best = optimizer.get_best_results(name)
    assert best is not None
    assert (best.parameters, best.metrics[0].latest) == ({"rate": "3"}, "0.0")
    assert list(optimizer.get_job_logs(name)) == ["trying 3 7"]
    assert list(optimizer.get_job_logs(name, f"{name}-0")) == ["trying 1 7"]
    assert optimizer.get_job_events(name)
    assert [job.name for job in optimizer.list_jobs()] == [name]
    optimizer.delete_job(name)
    with pytest.raises(RuntimeError, match=name):
        optimizer.get_job(name)


def test_mpi_starts_a_function_on_every_node(client: Client) -> None:
    require_mpirun()
    trainer = TrainerClient()
    name = trainer.train("deepspeed-distributed", trainer=CustomTrainer(mpi_rank, num_nodes=2))
    job = trainer.wait_for_job_status(name)
    assert [step.name for step in job.steps] == ["node-0", "node-1"]
    assert sorted(trainer.get_job_logs(name)) == ["rank 0 of 2", "rank 1 of 2"]


def mpi_rank() -> None:
    environ = os.environ
    rank, size = environ["OMPI_COMM_WORLD_RANK"], environ["OMPI_COMM_WORLD_SIZE"]
    print(f"rank {rank} of {size}", flush=True)  # noqa: T201 - the job's log


def test_packages_are_installed_for_the_job_alone(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    (project / "src" / "only_here").mkdir(parents=True)
    (project / "src" / "only_here" / "__init__.py").write_text("ANSWER = 42\n")
    (project / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "only-here"\nversion = "1"\n'
    )
    monkeypatch.setenv("PIP_NO_BUILD_ISOLATION", "1")
    monkeypatch.setenv("UV_NO_BUILD_ISOLATION", "1")
    monkeypatch.setenv("TRAINWAY_ENVIRONMENTS", str(tmp_path / "environments"))
    job = client.run(installed_answer, packages=[str(project)])
    assert job.result(timeout=TIMEOUT_S) == 42


def installed_answer() -> int:
    import only_here  # type: ignore[import-not-found]  # noqa: PLC0415 - there in the job alone

    return int(only_here.ANSWER)


def test_jobs_of_the_training_package_run_on_this_machine(client: Client) -> None:
    script = "echo launched; exit 3"
    job = MPIJob(name="mpi", command=script, mpirun=False, retries=0, on="local")
    job.create()
    with pytest.raises(JobFailedError, match="mpi has failed"):
        job.wait_for_completion(timeout=TIMEOUT_S)
    assert job.get_status().state is State.FAILED
    assert job.get_logs() == "launched\n"
    with pytest.raises(ConflictError, match=r"has already ended .failed. and cannot be scaled"):
        job.scale(2)
    job.delete()
    train = TrainJob(name="train", command="echo trained", on="local")
    with pytest.warns(UserWarning, match="runs with this machine's own programs"):
        train.create()
    assert train.wait_for_completion(timeout=TIMEOUT_S).state is State.SUCCEEDED
    assert list(train.follow_logs()) == ["trained"]
