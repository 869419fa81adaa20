"""The MPIJob of somebody who gives a name, an image, a command and how many workers.

`trainway mpijob create`, `trainway.training.MPIJob` and the dashboard's form all build it here, and
all get what is easily forgotten: no Istio sidecar, no token for the Kubernetes API, a launcher that
waits for its workers and runs mpirun as root, workers that are removed at the end, and a gang that
Kueue admits as a whole when a queue is named.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, get_args

from trainway.api.job_variables import entries
from trainway.api.mpijob import LAUNCHER, WORKER, MPIJobSpec
from trainway.api.pod_wishes import (
    ISTIO,
    MOST_PODS,
    Command,
    ResourceRequirements,
    command_problems,
    first_word,
    image_problems,
    literal_words,
    name_problems,
    namespace_problems,
    number_problems,
    queue_problems,
    resource_problems,
    text_problems,
    words_of,
)
from trainway.jobset.labels import KUEUE_QUEUE_NAME
from trainway.json_types import Json
from trainway.schema.field import FieldError, not_supported

API_VERSION: Final = "kubeflow.org/v2beta1"
IMPLEMENTATIONS: Final[tuple[str, ...]] = get_args(
    MPIJobSpec.model_fields["mpi_implementation"].annotation
)
OPEN_MPI: Final = IMPLEMENTATIONS[0]
STARTERS: Final = frozenset(
    {"mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "horovodrun"}
)
"""The programs that start the processes of MPI themselves."""

_AS_ROOT: Final = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
"""Most images run as root, and Open MPI refuses to without these."""
_LAUNCHER_REQUESTS: Final = {"cpu": "100m", "memory": "256Mi"}
"""What mpirun itself needs; asked for where the workers ask for something of the kind."""


@dataclass(frozen=True, kw_only=True)
class MPIJobWishes:
    """What an MPIJob is to run; what is not given has a value that suits most."""

    name: str
    image: str = ""
    command: Command = ""
    """What each process runs: a text, or words. It may also start mpirun itself."""
    namespace: str = ""
    """Empty: that of whoever creates it."""
    workers: int = 2
    resources: ResourceRequirements = field(default_factory=ResourceRequirements)
    slots_per_worker: int | None = None
    """Processes on each worker; None: one for each GPU, or one."""
    mpi_implementation: str = OPEN_MPI
    queue: str = ""
    """The LocalQueue of Kueue; empty: none."""
    env: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    mpirun: bool | None = None
    """Whether to put mpirun before the command; None: unless the command starts MPI itself."""
    retries: int = 1
    """How often a launcher that fails is tried again."""
    timeout: int | None = None
    """After how many seconds of running the job fails; None: never."""
    suspend: bool = False

    @property
    def slots(self) -> int:
        """Processes on each worker."""
        return self.slots_per_worker or self.resources.gpu or 1

    @property
    def processes(self) -> int:
        """Processes of the whole job."""
        return self.workers * self.slots


def mpijob_of(wishes: MPIJobWishes) -> Json:
    """The manifest."""
    metadata: Json = {"name": wishes.name}
    if wishes.namespace:
        metadata["namespace"] = wishes.namespace
    queue = {KUEUE_QUEUE_NAME: wishes.queue} if wishes.queue else {}
    if labels := {**wishes.labels, **queue}:
        metadata["labels"] = labels
    policy: Json = {"cleanPodPolicy": "Running", "backoffLimit": wishes.retries}
    if wishes.timeout is not None:
        policy["activeDeadlineSeconds"] = wishes.timeout
    if wishes.queue or wishes.suspend:
        policy["suspend"] = True
    return {
        "apiVersion": API_VERSION,
        "kind": "MPIJob",
        "metadata": metadata,
        "spec": {
            "slotsPerWorker": wishes.slots,
            "mpiImplementation": wishes.mpi_implementation,
            "launcherCreationPolicy": "WaitForWorkersReady",
            "runPolicy": policy,
            "mpiReplicaSpecs": {LAUNCHER: _launcher(wishes), WORKER: _worker(wishes)},
        },
    }


def problems(wishes: MPIJobWishes) -> list[FieldError]:
    """All that is wrong, each at the name of the wish."""
    return list(_problems(wishes))


def advice(wishes: MPIJobWishes) -> list[str]:
    """What somebody who is new to distributed training may not think of, in sentences."""
    said = []
    if wishes.workers == 1:
        said.append(
            "warning: one worker is no distributed training; ask for two workers or more, unless"
            " this is a test"
        )
    if (count := wishes.processes) > 1:
        said.append(
            f"hint: {count} processes train on {count} times as many samples in each step; a"
            f" learning rate for one process should be multiplied by up to {count}, with a warm-up"
        )
    return said


def with_workers(job: Json, workers: int) -> Json:
    """The merge patch that gives an MPIJob so many workers.

    Open MPI starts as many processes as there are slots. Other MPIs are told a number, and a number
    that `mpijob_of` wrote is changed too.
    """
    spec = job["spec"]
    change: Json = {WORKER: {"replicas": workers}}
    launcher = spec["mpiReplicaSpecs"][LAUNCHER]["template"]
    containers: list[Json] = launcher["spec"]["containers"]
    before = (spec["mpiReplicaSpecs"].get(WORKER) or {}).get("replicas") or 0
    slots = spec.get("slotsPerWorker") or 1
    command = containers[0].get("command") or []
    if command[:3] == ["mpirun", "-n", str(before * slots)]:
        told = {**containers[0], "command": ["mpirun", "-n", str(workers * slots), *command[3:]]}
        change[LAUNCHER] = {"template": {"spec": {"containers": [told, *containers[1:]]}}}
    return {"spec": {"mpiReplicaSpecs": change}}


def _problems(wishes: MPIJobWishes) -> Iterator[FieldError]:
    last = max(wishes.workers, 1) - 1
    yield from name_problems(wishes.name, max(f"-worker-0-{last}", "-launcher-0-0", key=len))
    yield from namespace_problems(wishes.namespace)
    yield from image_problems(wishes.image)
    yield from command_problems(wishes.command)
    yield from number_problems("workers", wishes.workers, 1, MOST_PODS)
    yield from number_problems("slots_per_worker", wishes.slots_per_worker, 1)
    yield from number_problems("retries", wishes.retries, 0)
    yield from number_problems("timeout", wishes.timeout, 1)
    yield from resource_problems(wishes.resources)
    yield from queue_problems(wishes.queue)
    yield from text_problems(wishes.env, wishes.labels)
    if wishes.mpi_implementation not in IMPLEMENTATIONS:
        yield not_supported(("mpi_implementation",), wishes.mpi_implementation, IMPLEMENTATIONS)


def _launcher(wishes: MPIJobWishes) -> Json:
    container: Json = {"name": "launcher", **_image(wishes)}
    container["command"] = literal_words(_launch(wishes))
    as_root = _AS_ROOT if wishes.mpi_implementation == OPEN_MPI else {}
    if env := entries({**as_root, **wishes.env}, {}, wishes.name):
        container["env"] = env
    asked = {"cpu": wishes.resources.cpu, "memory": wishes.resources.memory}
    if requests := {name: _LAUNCHER_REQUESTS[name] for name, given in asked.items() if given}:
        container["resources"] = {"requests": requests}
    return {"replicas": 1, "restartPolicy": "Never", "template": _template(container)}


def _worker(wishes: MPIJobWishes) -> Json:
    container: Json = {"name": "worker", **_image(wishes)}
    if env := entries(wishes.env, {}, wishes.name):
        container["env"] = env
    if resources := wishes.resources.to_dict():
        container["resources"] = resources
    return {
        "replicas": wishes.workers,
        "restartPolicy": "Never",
        "template": _template(container),
    }


def _image(wishes: MPIJobWishes) -> Json:
    """None is needed where no containers are."""
    return {"image": wishes.image} if wishes.image else {}


def _template(container: Json) -> Json:
    return {
        "metadata": {"labels": dict(ISTIO), "annotations": dict(ISTIO)},
        "spec": {"automountServiceAccountToken": False, "containers": [container]},
    }


def _launch(wishes: MPIJobWishes) -> list[str]:
    """The command of the launcher."""
    words = words_of(wishes.command)
    starts_mpi = first_word(wishes.command) in STARTERS
    if starts_mpi if wishes.mpirun is None else not wishes.mpirun:
        return words
    if wishes.mpi_implementation == OPEN_MPI:  # which fills the slots of the hosts by itself
        passed_on = [word for name in wishes.env for word in ("-x", name)]
        return ["mpirun", *passed_on, *words]
    return ["mpirun", "-n", str(wishes.processes), *words]
