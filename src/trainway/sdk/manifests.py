"""The literal objects that a script, a command or a function becomes. Pure.

What runs under a training runtime is a TrainJob; a command on its own is a JobSet. Neither retries:
whoever runs a script waits for it and wants to see its error, not six attempts of it. Restarts that
are asked for are JobSet's, which take the whole gang. A job for pods says so in an annotation, and
runs on the runtime of the cluster; elsewhere the runtime travels along with its retries taken out.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Final

from trainway.api.job_variables import entries, merged, secret_objects, set_in_pods
from trainway.compiler.elasticity import with_elasticity
from trainway.compiler.packing import with_packing
from trainway.compiler.restarts import (
    INITIALIZERS,
    fail_fast,
    failure_policy,
    pod_failure_policy,
    with_max_restarts,
)
from trainway.errors import UsageError
from trainway.families.family import Runs
from trainway.families.table import family_of
from trainway.jobset.labels import FRAMEWORK, TIMEOUT_SECONDS
from trainway.jobset.literal_text import literal
from trainway.json_types import Json

TRAINER_API: Final = "trainer.kubeflow.org/v1alpha1"
JOBSET_API: Final = "jobset.x-k8s.io/v1alpha2"
TORCH_RUNTIME: Final = "torch-distributed"
GPU: Final = "nvidia.com/gpu"
JOB_KINDS: Final = ("TrainJob", "MPIJob", "JobSet")
DEFAULT_IMAGE: Final = "python:{}.{}-slim".format(*sys.version_info)
"""The image of a pod that needs no framework: it has the Python of whoever submits."""

_BARE: Final = re.compile(r"\d+(\.\d+)?")
_LEAST_MEMORY: Final = 1 << 20
"""Whoever asks for fewer bytes of memory than these has left out the unit."""


@dataclass(frozen=True)
class Resources:
    """What each node gets, in Kubernetes' amounts."""

    cpus: str | None = None
    memory: str | None = None
    gpus: str | None = None
    memory_limit: str | None = None
    """How much memory a node may use; None if that is as much as it requests."""

    def __post_init__(self) -> None:
        for amount in (self.memory, self.memory_limit):
            if amount is None or not _BARE.fullmatch(amount):
                continue
            if 0 < float(amount) < _LEAST_MEMORY:
                raise UsageError(
                    f"{amount} of memory would be {amount} bytes",
                    hint=f"write {amount}Gi for gibibytes, or {amount}Mi for mebibytes",
                )
        if self.memory is not None and self.memory_limit is not None:
            _check_limit(self.memory, self.memory_limit)

    def to_dict(self) -> Json:
        """Requests, and limits of memory and of devices."""
        requests = {"cpu": self.cpus, "memory": self.memory, GPU: self.gpus}
        limits = {"memory": self.memory_limit or self.memory, GPU: self.gpus}
        amounts = {"requests": requests, "limits": limits}
        given = {
            kind: {name: amount for name, amount in each.items() if amount is not None}
            for kind, each in amounts.items()
        }
        return {kind: each for kind, each in given.items() if each}


def _check_limit(memory: str, limit: str) -> None:
    """Refuse a limit below the request, as Kubernetes does."""
    from trainway.jobset.quantity import InvalidQuantityError, Quantity  # noqa: PLC0415 - slow

    with suppress(InvalidQuantityError):  # whoever checks the objects will say so
        if Quantity.parse(limit) < Quantity.parse(memory):
            raise UsageError(
                f"a limit of {limit} is less than the {memory} of memory that are requested",
                hint="raise --memory-limit, or leave it out",
            )


@dataclass(frozen=True)
class Wishes:
    """What a user asks for beside the thing to run; None leaves it as it is."""

    name: str | None = None
    nodes: int | None = None
    procs_per_node: int | None = None
    resources: Resources = Resources()
    env: Mapping[str, str] = field(default_factory=dict)
    runtime: str | None = None
    image: str | None = None
    restarts: int = 0
    recover_on_exit_codes: tuple[int, ...] = ()
    """Those after which it restarts however often."""
    on: str | None = None
    """The backend; on this machine jobs run as processes and need no image."""
    containers: bool = False
    """Whether the job runs in containers of its images on this machine too."""
    secrets: Mapping[str, str] = field(default_factory=dict)
    """Variables whose values are never shown."""
    timeout: int | None = None
    """How many seconds the job may run."""
    min_nodes: int | None = None
    """With how few of its nodes an elastic job goes on; None: it needs them all."""

    @property
    def travels(self) -> bool:
        """Whether the job runs where this machine's files are not."""
        return family_of(self.on).travels

    @property
    def is_in_pods(self) -> bool:
        """Whether it runs in pods of a cluster, each from an image, and not as processes."""
        return family_of(self.on).runs is Runs.PODS

    @property
    def python(self) -> str:
        """What starts Python there: images and activated environments have the short name."""
        return "python3" if self.travels and not self.is_in_pods else "python"

    @property
    def uses_images(self) -> bool:
        """Whether the images of a runtime mean anything."""
        return self.wants_containers or self.is_in_pods

    @property
    def wants_containers(self) -> bool:
        """Whether to run in containers, which an image implies."""
        return self.containers or self.image is not None

    def isolation(self) -> Json:
        """The option of a submission that says so, where there is a choice."""
        return {"isolation": "container"} if self.wants_containers and not self.is_in_pods else {}


_NOTHING: Final = Wishes()


def launcher(runtime: Json | None, python: str = "python") -> list[str]:
    """What starts the processes of a function under a runtime, before `python`.

    It is torchrun as a module, so that all of it runs with the same Python.
    """
    policy = ((runtime or {}).get("spec") or {}).get("mlPolicy") or {}
    if "torch" in policy:
        return [python, "-m", "torch.distributed.run", "--no-python"]
    return ["mpirun"] if "mpi" in policy else []


def script_command(runtime: Json | None, script: str, python: str = "python") -> list[str]:
    """The command that runs a Python script under a runtime."""
    policy = ((runtime or {}).get("spec") or {}).get("mlPolicy") or {}
    if "torch" in policy:
        return ["torchrun", script]
    return [*(["mpirun"] if "mpi" in policy else []), python, script]


def trainjob(
    wishes: Wishes, runtime: Json | None, command: Sequence[str], args: Sequence[str] = ()
) -> list[Json]:
    """A TrainJob that runs the command, with its secrets, and its runtime where that is known."""
    trainer: Json = {}
    if wishes.image is not None:
        trainer["image"] = wishes.image
    trainer["command"] = [literal(part) for part in command]
    if args:
        trainer["args"] = [literal(part) for part in args]
    job: Json = {
        "apiVersion": TRAINER_API,
        "kind": "TrainJob",
        "metadata": {"name": wishes.name},
        "spec": {"runtimeRef": {"name": wishes.runtime}, "trainer": trainer},
    }
    _apply_to_trainjob(job, wishes)
    secrets = secret_objects(wishes.secrets, wishes.name or "")
    if wishes.is_in_pods:
        return [*secrets, with_max_restarts(job, wishes.restarts, wishes.recover_on_exit_codes)]
    if runtime is None:
        return [*secrets, job]
    runtime = failing_fast(runtime, wishes, with_images=wishes.uses_images)
    if wishes.travels:
        if runtime["metadata"]["labels"].get(FRAMEWORK) == "torchtune":
            return [*secrets, job]  # the model is told by the name of the cluster's runtime
        runtime["kind"] = "TrainingRuntime"
        runtime["metadata"]["name"] = wishes.name
        job["spec"]["runtimeRef"] = {"kind": "TrainingRuntime", "name": wishes.name}
    return [*secrets, runtime, job]


def failing_fast(runtime: Json, wishes: Wishes = _NOTHING, *, with_images: bool = False) -> Json:
    """The runtime without retries of single pods; the gang restarts as often as wished."""
    runtime = deepcopy(runtime)
    spec = runtime["spec"]["template"]["spec"]
    fail_fast(spec, wishes.restarts, wishes.recover_on_exit_codes)
    for role in () if with_images else spec["replicatedJobs"]:
        if role["name"] not in INITIALIZERS:
            for container in role["template"]["spec"]["template"]["spec"]["containers"]:
                container.pop("image", None)
    return runtime


def plain_objects(wishes: Wishes, command: Sequence[str]) -> list[Json]:
    """A JobSet that runs the command on each node, and its secrets."""
    secrets = secret_objects(wishes.secrets, wishes.name or "")
    return [*secrets, plain_jobset(wishes, command)]


def plain_jobset(wishes: Wishes, command: Sequence[str]) -> Json:
    """The JobSet of it."""
    refuse_elastic(wishes, "a command")
    container: Json = {"name": "node"}
    image = wishes.image or (DEFAULT_IMAGE if wishes.is_in_pods else None)
    if image is not None:
        container["image"] = image
    container["command"] = [literal(part) for part in command]
    variables = entries(wishes.env, wishes.secrets, wishes.name or "")
    if variables:
        container["env"] = variables
    resources = wishes.resources.to_dict()
    if resources:
        container["resources"] = resources
    nodes = 1 if wishes.nodes is None else wishes.nodes
    job_spec = {
        "completionMode": "Indexed",
        "completions": nodes,
        "parallelism": nodes,
        "backoffLimit": 0,
        **pod_failure_policy(wishes.recover_on_exit_codes),
        "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
    }
    policy = failure_policy(wishes.restarts, ["node"] if wishes.recover_on_exit_codes else [])
    job: Json = {
        "apiVersion": JOBSET_API,
        "kind": "JobSet",
        "metadata": {"name": wishes.name},
        "spec": {**policy, "replicatedJobs": [{"name": "node", "template": {"spec": job_spec}}]},
    }
    set_timeout(job, wishes.timeout)
    return with_packing(job, pack=False) if nodes > 1 else job


def refuse_elastic(wishes: Wishes, what: str) -> None:
    """Refuse a range of nodes for what cannot go on with fewer."""
    if wishes.min_nodes is not None:
        raise UsageError(
            f"{what} cannot be elastic, only a torch job can: a script that imports torch, or a "
            "TrainJob of a torch runtime",
            field="nodes",
            hint=f"write --nodes {wishes.nodes}",
        )


def set_timeout(job: Json, seconds: int | None) -> None:
    """Say how long a job may run: in the field of its kind, or as an annotation."""
    if seconds is None:
        return
    spec = job.setdefault("spec", {})
    if job["kind"] == "TrainJob":
        spec["activeDeadlineSeconds"] = seconds
        return
    if job["kind"] == "MPIJob":
        spec["runPolicy"] = {**(spec.get("runPolicy") or {}), "activeDeadlineSeconds": seconds}

    metadata = job.setdefault("metadata", {})
    metadata["annotations"] = {**(metadata.get("annotations") or {}), TIMEOUT_SECONDS: str(seconds)}


def packed(objects: Sequence[Json]) -> list[Json]:
    """The objects, with leave for the nodes of the job to share machines."""
    kinds = (*JOB_KINDS, "Task")
    return [with_packing(obj, pack=True) if obj.get("kind") in kinds else obj for obj in objects]


def reading_logs(objects: Sequence[Json], pattern: str | bool | None) -> list[Json]:
    """The objects; lines of the job are metrics by the pattern, or True: by the default one."""
    if pattern is None or pattern is False:
        return list(objects)
    from trainway.api.metrics_from_logs import with_metrics_from_logs  # noqa: PLC0415 - seldom

    text, kinds = "" if pattern is True else pattern, (*JOB_KINDS, "Task")
    return [
        with_metrics_from_logs(obj, text) if obj.get("kind") in kinds else obj for obj in objects
    ]


def with_wishes(objects: Sequence[Json], wishes: Wishes) -> list[Json]:
    """The objects as they were written, with what is asked for in place of what they say."""
    wanted = named_wishes(wishes)
    jobs = [item for item in objects if item.get("kind") in JOB_KINDS]
    if not wanted or not jobs:
        return list(objects)
    if len(jobs) > 1:
        raise UsageError(f"{wanted[0]} can be set for one job only, and there are {len(jobs)}")
    job = deepcopy(jobs[0])
    kind = job["kind"]
    wrong = [
        wish
        for wish in wanted
        if (wish in _OF_NEW_JOBS if kind == "TrainJob" else wish not in _OF_PODS)
    ]
    if wrong:
        article = "an" if kind == "MPIJob" else "a"
        raise UsageError(
            f"{wrong[0]} cannot be set for {article} {kind}", hint="set it in the file"
        )
    if wishes.name is not None:
        job.setdefault("metadata", {})["name"] = wishes.name
    name = _own_name(job)
    if kind == "TrainJob":
        _apply_to_trainjob(job, wishes, name)
    else:
        set_in_pods(job, entries(wishes.env, wishes.secrets, name))
        set_timeout(job, wishes.timeout)
    changed = [job if item is jobs[0] else item for item in objects]
    return [*secret_objects(wishes.secrets, name), *changed]


_OF_NEW_JOBS: Final = ("restarts", "recover-on-exit-codes")
_OF_PODS: Final = ("name", "env", "secret", "timeout")
"""What can be set for a kind that describes its pods itself; for a TrainJob most can."""


def _own_name(job: Json) -> str:
    """The job's name, for what belongs to it; of one that gets a new name, the start of it."""
    metadata = job.get("metadata")
    given = metadata if isinstance(metadata, dict) else {}
    return str(given.get("name") or str(given.get("generateName") or "job").rstrip("-"))


def named_wishes(wishes: Wishes) -> list[str]:
    """What is asked for, by the names of the options."""
    given = {
        "name": wishes.name,
        "nodes": wishes.nodes,
        "procs-per-node": wishes.procs_per_node,
        "cpus": wishes.resources.cpus,
        "memory": wishes.resources.memory,
        "memory-limit": wishes.resources.memory_limit,
        "gpus": wishes.resources.gpus,
        "env": wishes.env or None,
        "secret": wishes.secrets or None,
        "runtime": wishes.runtime,
        "image": wishes.image,
        "restarts": wishes.restarts or None,
        "recover-on-exit-codes": wishes.recover_on_exit_codes or None,
        "timeout": wishes.timeout,
    }
    return [name for name, value in given.items() if value is not None]


def _apply_to_trainjob(job: Json, wishes: Wishes, name: str | None = None) -> None:
    spec = job.setdefault("spec", {})
    trainer = spec.get("trainer") or {}
    if wishes.runtime is not None:
        spec["runtimeRef"] = {"name": wishes.runtime}
    if wishes.image is not None:
        trainer["image"] = wishes.image
    if wishes.nodes is not None:
        trainer["numNodes"] = wishes.nodes
    if wishes.nodes is not None and wishes.min_nodes is not None:
        job.update(with_elasticity(job, wishes.min_nodes, wishes.nodes))
    if wishes.procs_per_node is not None:
        trainer["numProcPerNode"] = wishes.procs_per_node
    resources = wishes.resources.to_dict()
    if resources:
        trainer["resourcesPerNode"] = _merged(trainer.get("resourcesPerNode") or {}, resources)
    variables = entries(wishes.env, wishes.secrets, name or wishes.name or "")
    if variables:
        trainer["env"] = merged(trainer.get("env"), variables)
    if trainer:
        spec["trainer"] = trainer
    set_timeout(job, wishes.timeout)


def _merged(resources: Json, wanted: Json) -> Json:
    """Amounts asked for replace those of the same name, in requests and in limits."""
    merged = deepcopy(resources)
    for kind, amounts in wanted.items():
        merged[kind] = {**(merged.get(kind) or {}), **amounts}
    limits = merged.get("limits") or {}
    replaced = {**(wanted.get("requests") or {}), **(wanted.get("limits") or {})}
    limits.update({name: n for name, n in replaced.items() if name in limits})
    return merged
