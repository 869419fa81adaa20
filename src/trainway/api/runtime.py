"""TrainingRuntime and ClusterTrainingRuntime: what an administrator prepares for TrainJobs.

A runtime is a JobSet template, the ML framework it is for, and how its pods are scheduled together.
"""

from typing import Annotated, ClassVar, Literal

from annotated_types import MaxLen, MinLen
from pydantic import Field

from trainway.api.constraints import SET, Int32, Kube, ObjectName, Rules, Shaped, map_by
from trainway.api.model import Model, Resource
from trainway.api.rules import at_least_one, count_given
from trainway.jobset.spec import JOBSET_SPEC
from trainway.json_types import Json
from trainway.schema.structural import Rule

_SOURCES = ("torch", "mpi", "jax", "xgboost", "flux")
_ONE_SOURCE = Rule(
    "[has(self.torch), has(self.mpi), has(self.jax), has(self.xgboost),has(self.flux)]"
    ".filter(x, x).size() <= 1",
    "Only one of the policy can be configured",
    lambda value, _old: count_given(value, _SOURCES) <= 1,
)
_NOT_THE_NODE = Rule(
    "!self.exists(c, c == 'node')",
    "containerNames must not include the main node container because PET_* envs are always"
    " injected into it",
    lambda value, _old: "node" not in value,
)


class EnvInjectionTarget(Model):
    """Containers of one replicated job that get the variables of torch as well."""

    job_name: ObjectName
    """Name of the replicated job."""
    container_names: Annotated[
        list[Annotated[str, MaxLen(63)]], SET, MinLen(1), MaxLen(8), Rules(_NOT_THE_NODE)
    ]
    """Names of the containers, without the training container, which always gets them."""


class EnvInjection(Model):
    """Where the variables of torch go besides the training container."""

    targets: Annotated[list[EnvInjectionTarget], map_by("jobName"), MaxLen(16)] = Field(
        default_factory=list
    )
    """One entry for each replicated job."""


class TorchPolicy(Model):
    """Training with PyTorch."""

    env_injection: EnvInjection | None = None
    """Where the variables of torch go besides the training container."""


class MPIPolicy(Model):
    """Training with MPI."""

    num_proc_per_node: Annotated[
        Int32, Rules(at_least_one("NumProcPerNode in mpiPolicy must be >= 1"))
    ] = 1
    """How many processes each node starts; slots in the host file."""
    mpi_implementation: Literal["OpenMPI", "Intel", "MPICH", ""] = "OpenMPI"
    """Which MPI the image has."""
    ssh_auth_mount_path: Annotated[str, MaxLen(4096)] = "/root/.ssh"
    """Where the SSH keys are mounted."""
    run_launcher_as_node: bool = False
    """Whether the launcher trains too."""


class JAXPolicy(Model):
    """Training with JAX."""


class XGBoostPolicy(Model):
    """Training with XGBoost."""


class FluxPolicy(Model):
    """Training under the Flux resource manager."""

    num_proc_per_node: Annotated[
        Int32, Rules(at_least_one("NumProcPerNode in fluxPolicy must be >= 1"))
    ] = 1
    """How many processes each node starts."""


class MLPolicy(Model):
    """The ML framework, and how many nodes there are."""

    rules: ClassVar[tuple[Rule, ...]] = (_ONE_SOURCE,)

    num_nodes: Int32 | None = None
    """How many nodes train, unless the TrainJob says; 1 if neither does."""
    torch: TorchPolicy | None = None
    """Training with PyTorch."""
    mpi: MPIPolicy | None = None
    """Training with MPI."""
    jax: JAXPolicy | None = None
    """Training with JAX."""
    xgboost: XGBoostPolicy | None = None
    """Training with XGBoost."""
    flux: FluxPolicy | None = None
    """Training under the Flux resource manager."""


class CoschedulingPolicy(Model):
    """A gang scheduled by the coscheduling plugin of the Kubernetes scheduler."""

    schedule_timeout_seconds: Int32 = 60
    """How long the gang waits for its last pod."""


class NetworkTopology(Model):
    """How near to each other the pods must be."""

    mode: Literal["hard", "soft"] = "hard"
    """Whether this must be so, or only should."""
    highest_tier_allowed: int = 1
    """The highest network tier that the gang may cross."""


class VolcanoPolicy(Model):
    """A gang scheduled by Volcano."""

    network_topology: NetworkTopology | None = None
    """How near to each other the pods must be."""


class PodGroupPolicy(Model):
    """Which scheduler starts all pods together."""

    coscheduling: CoschedulingPolicy | None = None
    """The coscheduling plugin of the Kubernetes scheduler."""
    volcano: VolcanoPolicy | None = None
    """Volcano."""


class JobSetTemplate(Model):
    """The JobSet that each TrainJob becomes."""

    min_properties: ClassVar[int | None] = 1

    metadata: Annotated[Json, Kube("EmbeddedObjectMeta")] | None = None
    """Labels and annotations of the JobSet."""
    spec: Annotated[Json, Shaped(JOBSET_SPEC)] = Field(default_factory=dict)
    """The JobSet itself."""


class TrainingRuntimeSpec(Model):
    """Framework, scheduling and template."""

    min_properties: ClassVar[int | None] = 1

    ml_policy: MLPolicy | None = None
    """The ML framework, and how many nodes there are."""
    pod_group_policy: PodGroupPolicy | None = None
    """Which scheduler starts all pods together."""
    template: JobSetTemplate = Field(default_factory=JobSetTemplate)
    """The JobSet that each TrainJob becomes."""


class TrainingRuntime(Resource):
    """A runtime for the TrainJobs of one namespace."""

    spec: TrainingRuntimeSpec
    """Framework, scheduling and template."""


class ClusterTrainingRuntime(TrainingRuntime):
    """A runtime for all TrainJobs of a cluster."""
