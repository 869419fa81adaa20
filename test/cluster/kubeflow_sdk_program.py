"""What a user does with the kubeflow SDK, as a program: `kubeflow_sdk_program.py RESULTS PLAIN`.

It runs in an environment with the SDK from PyPI and without Trainway. All checks run at once, each
with jobs of its own; the file RESULTS then has for each of them what went wrong, or null. PLAIN is
a namespace whose pods find no image.
"""

import json
import logging
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from kubeflow.trainer import (
    BuiltinTrainer,
    CustomTrainer,
    CustomTrainerContainer,
    HuggingFaceDatasetInitializer,
    HuggingFaceModelInitializer,
    Initializer,
    KubernetesBackendConfig,
    LoraConfig,
    RuntimeKind,
    TorchTuneConfig,
    TrainerClient,
    TrainerType,
)
from kubeflow.trainer.options import (
    ActiveDeadlineSeconds,
    Annotations,
    ContainerPatch,
    JobSetSpecPatch,
    JobSetTemplatePatch,
    JobSpecPatch,
    JobTemplatePatch,
    Labels,
    Name,
    PodSpecPatch,
    PodTemplatePatch,
    ReplicatedJobPatch,
    RuntimePatch,
    TrainerArgs,
    TrainerCommand,
    TrainingRuntimeSpecPatch,
)
from kubeflow_sdk_functions import fail, sum_with_mpi, train_with_ddp

Json = dict[str, Any]  # that of Trainway is not there
Check = Callable[[TrainerClient, str], None]

GROUP, VERSION, JOBS = "trainer.kubeflow.org", "v1alpha1", "trainjobs"
PLAIN_RUNTIME = "xgboost-distributed"  # its functions are started by python itself
IMAGE = "example.com/team/any:1"
SCRATCH = {"name": "scratch", "mountPath": "/scratch"}


def raw(client: TrainerClient, name: str) -> Json:
    """The TrainJob as the API server has it."""
    backend = client.backend
    job: Json = backend.custom_api.get_namespaced_custom_object(
        GROUP, VERSION, backend.namespace, JOBS, name
    )
    return job


def pods(client: TrainerClient, name: str) -> list[Any]:
    selector = f"jobset.sigs.k8s.io/jobset-name={name}"
    backend = client.backend
    found: list[Any] = backend.core_api.list_namespaced_pod(
        backend.namespace, label_selector=selector
    ).items
    return found


def raises(kind: type[Exception], call: Callable[[], object]) -> str:
    """What the error says that a call must raise."""
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError("nothing was raised")


def eventually(look: Callable[[], Any], is_it: Callable[[Any], bool]) -> Any:
    """Look until it is as it should be, or time is up; what was seen last."""
    for _ in range(240):
        seen = look()
        if is_it(seen):
            break
        time.sleep(0.5)
    return seen


def condition(client: TrainerClient, name: str, type_: str) -> Json:
    (found,) = [each for each in raw(client, name)["status"]["conditions"] if each["type"] == type_]
    return dict(found)


def wait(client: TrainerClient, name: str, *statuses: str) -> Any:
    """Wait for one of these statuses; every status that was seen on the way."""
    seen: list[str] = []
    job = client.wait_for_job_status(
        name,
        status=set(statuses),
        timeout=300,
        polling_interval=1,
        callbacks=[lambda job: seen.append(job.status)],
    )
    assert seen[-1] == job.status, seen
    return job


# Checks


class Collecting(logging.Handler):
    """Keeps what was warned of in the thread that made it; other checks run beside."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._lines = lines
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the text."""
        if record.thread == self._thread:
            self._lines.append(record.getMessage())


def check_version(client: TrainerClient, plain: str) -> None:
    lines: list[str] = []
    handler = Collecting(lines)
    logger = logging.getLogger("kubeflow.trainer")
    logger.addHandler(handler)
    try:
        TrainerClient()
    finally:
        logger.removeHandler(handler)
    assert lines == [], lines


def check_runtimes(client: TrainerClient, plain: str) -> None:
    runtimes = {runtime.name: runtime for runtime in client.list_runtimes()}
    assert "unlabelled" not in runtimes
    commands = {name: runtime.trainer.command[0] for name, runtime in runtimes.items()}
    assert commands["deepspeed-distributed"] == "mpirun", commands
    assert commands["torchtune-llama3.2-1b"] == "tune", commands
    assert "torchrun" in runtimes["torch-distributed"].trainer.command[-1]
    assert "python" in runtimes[PLAIN_RUNTIME].trainer.command[-1]
    assert len(runtimes) == 13, sorted(runtimes)  # the built-in ones, and one of the namespace
    tune = client.get_runtime("torchtune-llama3.2-1b")
    assert tune.trainer.trainer_type == TrainerType.BUILTIN_TRAINER
    assert (tune.trainer.device, tune.trainer.device_count) == ("gpu", "2")
    torch = client.get_runtime("torch-distributed")
    assert (torch.kind, torch.trainer.num_nodes) == (RuntimeKind.CLUSTER_TRAINING_RUNTIME, 1)
    assert torch.trainer.framework == "torch"
    mine = client.get_runtime("jax-distributed")
    assert (mine.kind, mine.trainer.image) == (RuntimeKind.TRAINING_RUNTIME, IMAGE)
    assert runtimes["jax-distributed"].kind == RuntimeKind.TRAINING_RUNTIME
    for name in ("unlabelled", "there-is-none"):
        assert name in raises(RuntimeError, partial(client.get_runtime, name))


def check_function(client: TrainerClient, plain: str) -> None:
    trainer = CustomTrainer(
        train_with_ddp,
        {"steps": 80},
        num_nodes=2,
        resources_per_node={"cpu": "600m"},  # by its processors torchrun counts processes
        env={"OMP_NUM_THREADS": "1"},
    )
    name = client.train(trainer=trainer)
    assert re.fullmatch("[a-z][0-9a-f]{11}", name), name
    running = wait(client, name, "Running", "Complete")
    assert running.status == "Running"
    assert sorted(step.name for step in running.steps) == ["node-0", "node-1"]
    assert running.num_nodes == 2
    lines = list(client.get_job_logs(name, follow=True))
    assert "here we go" in lines, lines
    assert "rank 0 of 2 sum 3 learned True" in lines, lines
    assert "report accepted True" in lines, lines
    assert wait(client, name, "Complete").status == "Complete"
    assert "rank 1 of 2 sum 3 learned True" in list(client.get_job_logs(name, step="node-1"))
    told = raw(client, name)["status"]["trainerStatus"]
    assert told["progressPercentage"] == 50, told
    assert told["estimatedRemainingSeconds"] == 7, told
    assert told["metrics"] == [{"name": "loss", "value": "0.25"}], told
    assert name in [job.name for job in client.list_jobs(client.get_runtime("torch-distributed"))]
    kinds = eventually(
        lambda: {event.involved_object_kind for event in client.get_job_events(name)},
        lambda kinds: kinds >= {"TrainJob", "Pod"},
    )
    assert kinds >= {"TrainJob", "Pod"}, kinds
    client.delete_job(name)
    assert name in raises(RuntimeError, lambda: client.get_job(name))


def check_container_and_options(client: TrainerClient, plain: str) -> None:
    pod = PodSpecPatch(
        node_selector={"kubernetes.io/os": "linux"},
        volumes=[{"name": "scratch", "emptyDir": {}}],
        containers=[ContainerPatch("node", volume_mounts=[SCRATCH])],
    )
    job = JobTemplatePatch(
        spec=JobSpecPatch(PodTemplatePatch(metadata={"labels": {"team": "vision"}}, spec=pod))
    )
    template = JobSetTemplatePatch(spec=JobSetSpecPatch([ReplicatedJobPatch("node", job)]))
    name = client.train(
        runtime=PLAIN_RUNTIME,
        trainer=CustomTrainerContainer(
            IMAGE, 2, {"cpu": "100m", "memory": "64Mi"}, env={"MINE": "too"}
        ),
        options=[
            Name("container"),
            Labels({"kueue": "none"}),
            Annotations({"note": "a test"}),
            TrainerCommand(
                ["bash", "-c", 'echo "$0 $MINE" > /scratch/a; cat /scratch/a; sleep 15']
            ),
            TrainerArgs(["first"]),
            ActiveDeadlineSeconds(290),
            RuntimePatch(TrainingRuntimeSpecPatch(template)),
        ],
    )
    assert name == "container"
    metadata = raw(client, name)["metadata"]
    assert metadata["labels"]["kueue"] == "none", metadata
    assert metadata["annotations"]["note"] == "a test", metadata
    spec = raw(client, name)["spec"]
    assert spec["activeDeadlineSeconds"] == 290
    assert spec["runtimeRef"]["apiGroup"] == GROUP, spec["runtimeRef"]
    assert spec["runtimePatches"][0]["manager"] == "trainer.kubeflow.org/kubeflow-sdk"
    assert wait(client, name, "Running", "Complete").status == "Running"
    for each in pods(client, name):
        assert each.metadata.labels["team"] == "vision"
        assert each.spec.node_selector == {"kubernetes.io/os": "linux"}
    ended = wait(client, name, "Complete")
    steps = {step.name: (step.device, step.device_count) for step in ended.steps}
    assert steps == {"node-0": ("cpu", "100m"), "node-1": ("cpu", "100m")}, steps
    for step in steps:
        assert list(client.get_job_logs(name, step=step)) == ["first too"]


def check_failure(client: TrainerClient, plain: str) -> None:
    trainer = CustomTrainer(fail, {"reason": "out of luck"})
    name = client.train(runtime=client.get_runtime("brittle"), trainer=trainer)
    said = raises(RuntimeError, lambda: wait(client, name, "Complete"))
    assert said == f"TrainJob {name} is Failed"
    job = wait(client, name, "Failed")
    assert [(step.name, step.status) for step in job.steps] == [("node-0", "Failed")]
    assert list(client.get_job_logs(name))[-1] == "ValueError: out of luck"


def check_deadline(client: TrainerClient, plain: str) -> None:
    name = client.train(
        runtime=PLAIN_RUNTIME,
        trainer=CustomTrainerContainer(IMAGE),
        options=[TrainerCommand(["sleep", "100"]), ActiveDeadlineSeconds(5)],
    )
    assert wait(client, name, "Failed").status == "Failed"
    assert condition(client, name, "Failed")["reason"] == "DeadlineExceeded"


def check_mpi(client: TrainerClient, plain: str) -> None:
    trainer = CustomTrainer(sum_with_mpi, num_nodes=2)
    name = client.train(runtime="deepspeed-distributed", trainer=trainer)
    running = wait(client, name, "Running", "Complete")
    assert running.status == "Running"
    steps = {step.name: step.pod_name for step in running.steps}
    assert sorted(steps) == ["node-0", "node-1"], steps
    assert steps["node-0"].startswith(f"{name}-launcher-0-0-"), steps
    assert steps["node-1"].startswith(f"{name}-node-0-0-"), steps
    wait(client, name, "Complete")
    lines = list(client.get_job_logs(name))
    assert f"rank 0 of 2 on {name}-launcher-0-0 sum 3" in lines, lines
    assert f"rank 1 of 2 on {name}-node-0-0 sum 3" in lines, lines


def check_packages(client: TrainerClient, plain: str) -> None:
    client.get_runtime_packages(client.get_runtime(PLAIN_RUNTIME))  # prints
    backend = client.backend
    left = backend.custom_api.list_namespaced_custom_object(GROUP, VERSION, backend.namespace, JOBS)
    assert "print_packages" not in json.dumps(left["items"])


def check_initializers(client: TrainerClient, plain: str) -> None:
    client = TrainerClient(KubernetesBackendConfig(namespace=plain))
    name = client.train(
        runtime="torchtune-llama3.2-1b",
        initializer=Initializer(
            dataset=HuggingFaceDatasetInitializer("hf://tatsu-lab/alpaca/data"),
            model=HuggingFaceModelInitializer("hf://team/model", access_token="secret"),  # noqa: S106
        ),
        trainer=BuiltinTrainer(
            TorchTuneConfig(batch_size=4, epochs=1, peft_config=LoraConfig(lora_rank=8))
        ),
        options=[Name("tune")],
    )
    job = eventually(lambda: client.get_job(name), lambda job: len(job.steps) == 2)
    steps = {step.name: step.status for step in job.steps}
    assert steps == {"dataset-initializer": "Pending", "model-initializer": "Pending"}, steps
    assert job.status == "Created"
    for follow in (True, False):
        assert list(client.get_job_logs(name, step="dataset-initializer", follow=follow)) == []
    assert raw(client, name)["spec"]["initializer"]["dataset"] == {
        "storageUri": "hf://tatsu-lab/alpaca/data",
        "env": [],
    }


def check_suspension(client: TrainerClient, plain: str) -> None:
    backend = client.backend
    job = {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "TrainJob",
        "metadata": {"name": "held"},
        "spec": {
            "runtimeRef": {"name": PLAIN_RUNTIME},
            "suspend": True,
            "trainer": {"command": ["sleep", "15"]},
        },
    }
    place = (GROUP, VERSION, backend.namespace, JOBS)
    backend.custom_api.create_namespaced_custom_object(*place, job)
    eventually(lambda: raw(client, "held"), lambda job: job.get("status", {}).get("conditions"))
    assert condition(client, "held", "Suspended")["status"] == "True"
    held = client.get_job("held")
    assert (held.status, held.steps) == ("Created", [])
    backend.custom_api.patch_namespaced_custom_object(*place, "held", {"spec": {"suspend": False}})
    seen: list[tuple[str, str | None]] = []
    client.wait_for_job_status(
        "held",
        timeout=300,
        polling_interval=1,
        callbacks=[
            lambda job: seen.append((job.status, job.steps[0].status if job.steps else None))
        ],
    )
    # The SDK calls a job Running only as long as it has no condition, and this one has Resumed.
    assert ("Created", "Running") in seen, seen
    assert {status for status, _ in seen} == {"Created", "Complete"}, seen


def check_trainway_run(client: TrainerClient, plain: str) -> None:
    name = "of-trainway"  # a job that Trainway sent, and that is there before the checks begin
    job = client.get_job(name)
    assert (job.runtime.name, job.num_nodes) == ("torch-distributed", 2), job
    assert name in [each.name for each in client.list_jobs()]
    assert name in [each.name for each in client.list_jobs(client.get_runtime("torch-distributed"))]
    assert name not in [runtime.name for runtime in client.list_runtimes()]
    wait(client, name, "Complete")
    assert "trained by Trainway" in list(client.get_job_logs(name))


CHECKS: dict[str, Check] = {
    name.removeprefix("check_"): value
    for name, value in list(globals().items())
    if name.startswith("check_")
}


def outcome(check: Check, client: TrainerClient, plain: str) -> str | None:
    try:
        check(client, plain)
    except Exception:  # noqa: BLE001 (whatever it is, the test shows it)
        return traceback.format_exc()
    return None


def main(results: str, plain: str) -> None:
    clients = {name: TrainerClient() for name in CHECKS}
    with ThreadPoolExecutor(len(CHECKS)) as pool:
        waiting = {
            name: pool.submit(outcome, check, clients[name], plain)
            for name, check in CHECKS.items()
        }
        outcomes = {name: future.result() for name, future in waiting.items()}
    Path(results).write_text(json.dumps(outcomes))


if __name__ == "__main__":
    main(*sys.argv[1:])
