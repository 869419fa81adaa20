"""MPIJob: a launcher that runs mpirun, and the workers it runs it on.

The CRD defaults some fields; the controller defaults the rest, which `with_controller_defaults`
does here. After both, every field the compiler reads has a value.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from trainway.api.constraints import Int32, Int64, Kube, Time, map_by
from trainway.api.model import Model, Resource
from trainway.json_types import Json

LAUNCHER = "Launcher"
WORKER = "Worker"
CONTROLLER = "kubeflow.org/mpi-operator"
MULTIKUEUE = "kueue.x-k8s.io/multikueue"

_REPLICA_DEFAULTS: dict[str, dict[str, Any]] = {
    LAUNCHER: {"replicas": 1, "restartPolicy": "OnFailure"},
    WORKER: {"replicas": 0, "restartPolicy": "Never"},
}
_SPEC_DEFAULTS: dict[str, Any] = {
    "slotsPerWorker": 1,
    "mpiImplementation": "OpenMPI",
    "sshAuthMountPath": "/root/.ssh",
    "launcherCreationPolicy": "AtStartup",
}


class SchedulingPolicy(Model):
    """How the pods are scheduled as a gang."""

    min_available: Int32 | None = None
    """How many pods must fit before any starts; all of them if not given."""
    queue: str | None = None
    """Queue of the gang (Volcano)."""
    priority_class: str | None = None
    """Priority class of the gang (Volcano)."""
    min_resources: dict[str, Annotated[int | float | str, Kube("Quantity")]] | None = None
    """Resources that must be free before any pod starts; computed if not given."""
    schedule_timeout_seconds: Int32 | None = None
    """How long the gang waits for its last pod (coscheduling)."""


class RunPolicy(Model):
    """How long the job runs, and what stays when it has ended."""

    clean_pod_policy: str = Field(default_factory=str)
    """Which workers are removed when the job has ended: None, Running or All."""
    ttl_seconds_after_finished: Int32 | None = None
    """How long a finished job stays."""
    active_deadline_seconds: Int64 | None = None
    """How long the job may run before it fails."""
    backoff_limit: Int32 | None = None
    """How often the launcher is tried again."""
    suspend: bool = False
    """Whether the job is held back or stopped for now."""
    managed_by: str | None = None
    """The controller that runs the job."""
    scheduling_policy: SchedulingPolicy | None = None
    """How the pods are scheduled as a gang."""


class ReplicaSpec(Model):
    """The pods of one role."""

    replicas: Int32 = Field(default_factory=int)
    """How many pods: one launcher, any number of workers."""
    restart_policy: str = Field(default_factory=str)
    """Never or OnFailure."""
    template: Annotated[Json, Kube("PodTemplateSpec")] = Field(default_factory=dict)
    """The pod template; its own restart policy does not count."""


class MPIJobSpec(Model):
    """The roles of the job and how it runs."""

    slots_per_worker: Int32 = 1
    """How many processes each worker takes."""
    run_launcher_as_worker: bool = False
    """Whether the launcher takes processes too."""
    mpi_implementation: Literal["OpenMPI", "Intel", "MPICH"] = "OpenMPI"
    """Which MPI the image has."""
    ssh_auth_mount_path: str = "/root/.ssh"
    """Where the SSH keys are mounted."""
    launcher_creation_policy: str = "AtStartup"
    """When the launcher starts: AtStartup, or WaitForWorkersReady."""
    mpi_replica_specs: dict[str, ReplicaSpec]
    """The roles: Launcher, and Worker if there are any."""
    run_policy: RunPolicy = Field(default_factory=RunPolicy)
    """How long the job runs, and what stays when it has ended."""


class MPIJobCondition(Model):
    """What is known about one aspect of the job, and since when."""

    type: str
    """Created, Running, Suspended, Succeeded or Failed."""
    status: Literal["True", "False", "Unknown"]
    """Whether it is so."""
    reason: str | None = None
    """Why, in one word."""
    message: str | None = None
    """Why, in a sentence."""
    last_update_time: Time | None = None
    """When the condition was last written."""
    last_transition_time: Time | None = None
    """When its status last changed."""


class ReplicaStatus(Model):
    """How the pods of one role stand."""

    active: Int32 | None = None
    """Pods that run."""
    succeeded: Int32 | None = None
    """Pods that succeeded."""
    failed: Int32 | None = None
    """Pods that failed."""
    label_selector: Annotated[Json, Kube("LabelSelector")] | None = None
    """Deprecated: use selector."""
    selector: str | None = None
    """Selects the pods of the role."""


class MPIJobStatus(Model):
    """How the MPIJob stands."""

    conditions: Annotated[list[MPIJobCondition], map_by("type")] = Field(default_factory=list)
    """What is known about the job."""
    replica_statuses: dict[str, ReplicaStatus] = Field(default_factory=dict)
    """How the pods of each role stand."""
    start_time: Time | None = None
    """When the job started, or was last resumed."""
    completion_time: Time | None = None
    """When the job ended."""
    last_reconcile_time: Time | None = None
    """Never written."""


class MPIJob(Resource):
    """A launcher that runs mpirun, and the workers it runs it on."""

    spec: MPIJobSpec
    """The roles of the job and how it runs."""
    status: MPIJobStatus | None = None
    """How the job stands."""


def with_controller_defaults(job: dict[str, Any]) -> dict[str, Any]:
    """The job with what its controller fills in; nulls must be gone already."""
    spec = job["spec"]
    replica_specs = {
        role: _filled(replica, _REPLICA_DEFAULTS.get(role, {}))
        for role, replica in spec["mpiReplicaSpecs"].items()
    }
    run_policy = {"cleanPodPolicy": "None"} | spec.get("runPolicy", {})
    filled = _filled(spec, _SPEC_DEFAULTS)
    return job | {"spec": filled | {"mpiReplicaSpecs": replica_specs, "runPolicy": run_policy}}


def _filled(given: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """What is given, with a default for each field that is missing or empty."""
    return given | {name: value for name, value in defaults.items() if given.get(name, "") == ""}
