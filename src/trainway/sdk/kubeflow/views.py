"""The server's JSON as the types of the kubeflow SDK. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

from trainway.compiler.restarts import INITIALIZERS
from trainway.jobset.labels import ANCESTOR_STEP, FRAMEWORK
from trainway.json_types import Json
from trainway.sdk.kubeflow.types.types import (
    UNKNOWN,
    Event,
    Runtime,
    RuntimeKind,
    RuntimeTrainer,
    Step,
    TrainerType,
    TrainJob,
)
from trainway.sdk.log_line import LogLine

CREATED: Final = "Created"
RUNNING: Final = "Running"
COMPLETE: Final = "Complete"
FAILED: Final = "Failed"
STATUSES: Final = frozenset({CREATED, RUNNING, COMPLETE, FAILED})
STATUS_OF_PHASE: Final[Mapping[str, str]] = {
    "Pending": CREATED,
    "Queued": CREATED,
    "Inadmissible": CREATED,
    "Starting": CREATED,
    "Paused": CREATED,
    "Running": RUNNING,
    "Restarting": RUNNING,
    "Stopping": RUNNING,
    "Succeeded": COMPLETE,
    "Failed": FAILED,
    "Cancelled": FAILED,
}

_TRL: Final = "trl"
_BUILTIN: Final = ("torchtune", _TRL)
_LAUNCHER: Final = "launcher"
_NODE: Final = "node"
_DEVICES: Final = {
    "nvidia.com/gpu": "gpu",
    "amd.com/gpu": "gpu",
    "google.com/tpu": "tpu",
    "huawei.com/Ascend910": "npu",
    "cpu": "cpu",
}


def runtime_of(manifest: Json) -> Runtime:
    """A training runtime."""
    name = manifest["metadata"]["name"]
    framework = (manifest["metadata"].get("labels") or {}).get(FRAMEWORK)
    container = _trainer_container(manifest)
    if framework is None or container is None:
        missing = f"label {FRAMEWORK}" if framework is None else "trainer container"
        raise RuntimeError(f"the runtime {name} has no {missing}")
    policy = manifest["spec"].get("mlPolicy") or {}
    is_builtin = framework in _BUILTIN
    trainer = RuntimeTrainer(
        TrainerType.BUILTIN_TRAINER if is_builtin else TrainerType.CUSTOM_TRAINER,
        framework,
        container.get("image") or "",
        num_nodes=policy.get("numNodes") or 1,
    )
    trainer.device, count = _device((container.get("resources") or {}).get("limits"))
    count = str((policy.get("mpi") or {}).get("numProcPerNode") or count)
    trainer.device_count = str(int(count) * trainer.num_nodes) if count.isdigit() else count
    trainer.set_command(_command(policy, framework))
    return Runtime(name, trainer, RuntimeKind(manifest["kind"]))


def unknown_runtime(name: str) -> Runtime:
    """A runtime of which only the name is known."""
    trainer = RuntimeTrainer(TrainerType.CUSTOM_TRAINER, UNKNOWN, "")
    return Runtime(name or UNKNOWN, trainer, RuntimeKind.CLUSTER_TRAINING_RUNTIME)


def log_lines(lines: Iterable[LogLine], *, follow: bool) -> Iterator[str]:
    """Lines as the SDK gives them: whole, and without their end.

    What is not followed is split at every kind of line end: each step of a progress bar is a line.
    """
    begun: dict[tuple[str, int, str], str] = {}
    for line in lines:
        who = (line.container, line.attempt, line.stream)
        text = begun.pop(who, "") + line.text
        if line.partial:
            begun[who] = text
        elif follow:
            yield text
        else:
            yield from text.splitlines() or [""]
    yield from begun.values()


def _command(policy: Json, framework: str) -> tuple[str, ...]:
    """What a user would type to start the training code."""
    if framework == _TRL:
        return ("python", "-m", "trainway.llm.launcher")
    if framework in _BUILTIN:
        return ("tune", "run")
    if "torch" in policy:
        return ("torchrun",)
    return ("mpirun", "python") if "mpi" in policy else ("python",)


def train_job_of(job: Json, runtime: Runtime) -> TrainJob:
    """A job; `runtime` is the one it names."""
    metadata, status = job["metadata"], job["status"]
    trainer = trainer_spec(job)
    steps = [_step(job, node, runtime, trainer) for node in status.get("nodes") or ()]
    return TrainJob(
        name=metadata["name"],
        runtime=runtime,
        steps=sorted(steps, key=_step_order),
        num_nodes=trainer.get("numNodes") or runtime.trainer.num_nodes,
        creation_timestamp=_time(metadata["creationTimestamp"]),
        status=STATUS_OF_PHASE.get(status["phase"], UNKNOWN),
    )


def trainer_spec(job: Json) -> Json:
    """What the TrainJob of a job says about the trainer."""
    spec = (manifest_of(job) or {}).get("spec") or {}
    trainer: Json = spec.get("trainer") or {}
    return trainer


def manifest_of(job: Json) -> Json | None:
    """The TrainJob that was submitted."""
    objects = (job.get("spec") or {}).get("objects") or ()
    return next((item for item in objects if item.get("kind") == "TrainJob"), None)


def runtime_name(job: Json) -> str:
    """The runtime that a job names."""
    spec = (manifest_of(job) or {}).get("spec") or {}
    return str((spec.get("runtimeRef") or {}).get("name") or "")


def submitted_runtime(job: Json, name: str) -> Json | None:
    """The runtime of that name, where it was submitted with the job."""
    for item in (job.get("spec") or {}).get("objects") or ():
        is_runtime = str(item.get("kind")).endswith("TrainingRuntime")
        if is_runtime and (item.get("metadata") or {}).get("name") == name:
            runtime: Json = item
            return runtime
    return None


def step_name(role: str, rank: int, *, is_mpi: bool) -> str:
    """What the SDK calls a pod: with MPI the launcher is the first node."""
    if role in INITIALIZERS:
        return role
    return f"{_NODE}-{rank + 1 if is_mpi and role != _LAUNCHER else rank}"


def is_mpi(runtime: Runtime) -> bool:
    """Whether a launcher starts the nodes' processes."""
    return runtime.trainer.command[:1] == ("mpirun",)


def event_of(event: Json, job_name: str) -> Event:
    """Something that happened."""
    involved = event.get("object")
    kind, _, name = involved.partition("/") if isinstance(involved, str) else ("", "", "")
    return Event(
        involved_object_kind=kind if name else ("Pod" if kind else "TrainJob"),
        involved_object_name=name or kind or job_name,
        message=str(event.get("message") or ""),
        reason=str(event.get("reason") or ""),
        event_time=_time(event["time"]),
    )


def _step(job: Json, node: Json, runtime: Runtime, trainer: Json) -> Step:
    role, rank = node["role"], node["rank"]
    step = Step(
        step_name(role, rank, is_mpi=is_mpi(runtime)),
        node.get("phase"),
        f"{job['metadata']['name']}-{role}-{node.get('job') or 0}-{rank}",
    )
    if role not in INITIALIZERS:
        step.device, step.device_count = _device(
            (trainer.get("resourcesPerNode") or {}).get("limits")
        )
        processes = trainer.get("numProcPerNode")
        step.device_count = str(processes) if processes else step.device_count
    return step


def _step_order(step: Step) -> tuple[bool, int, str]:
    """Initializers before nodes, nodes by number."""
    _, _, number = step.name.rpartition("-")
    return (step.name not in INITIALIZERS, int(number) if number.isdigit() else 0, step.name)


def _trainer_container(manifest: Json) -> Json | None:
    for role in manifest["spec"]["template"]["spec"]["replicatedJobs"]:
        template = role["template"]
        labels = (template.get("metadata") or {}).get("labels") or {}
        if ANCESTOR_STEP in labels:
            containers = template["spec"]["template"]["spec"]["containers"]
            found = [container for container in containers if container["name"] == _NODE]
            if found:
                container: Json = found[0]
                return container
    return None


def _device(limits: Json | None) -> tuple[str, str]:
    """The device of a container and how many it has."""
    for resource, device in _DEVICES.items():
        if limits and resource in limits:
            return device, str(limits[resource])
    for resource, amount in (limits or {}).items():
        if resource.startswith("nvidia.com/mig-"):
            return resource.partition("/")[2], str(amount)
    return UNKNOWN, UNKNOWN


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
