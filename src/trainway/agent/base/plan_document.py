"""The plan of a job, `plan.json`: what an agent is asked to do. For type checkers only.

The backend of a job writes it, an agent reads it. `docs/protocols.md` is made from this module.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NotRequired, TypedDict

    from trainway.json_types import Json

    class PodName(TypedDict):
        """Tells a pod apart from all others of its plan."""

        role: str
        """The replicated job of the JobSet."""
        job_index: int
        """The index of the Job within its role."""
        slot: int
        """The index of the pod within its Job."""
        uid: str
        """The uid of the pod."""
        attempt: int
        """How often the JobSet had been restarted."""
        job_attempt: int
        """How often the Job had been restarted."""
        failures: int
        """How often pods of this index had failed before."""

    class PodDemand(TypedDict):
        """What one pod needs, for whoever places it."""

        pod: str
        """The key of the pod: `<role>-<job>-<pod>`."""
        cpus: float
        """The CPUs that the pod requests."""
        memory: int
        """The bytes of memory that the pod requests."""
        gpus: float
        """The GPUs that the pod requests, or the part of one."""
        apart: NotRequired[str]
        """Pods with the same word here never share a host while both run."""

    class NetworkPlan(TypedDict):
        """Where the pods of the job meet."""

        port: int
        """The port on which the first pod listens for the others."""

    class HostPlan(TypedDict):
        """What the pods are told of the machine that they run on."""

        name: str
        """The name of the machine."""
        ip: str
        """The address of the machine."""

    class StatusPlan(TypedDict):
        """Where the trainer reports its progress."""

        path: str
        """The path of the URL."""
        port: NotRequired[int]
        """The port on which the agent listens."""
        certificate: NotRequired[str]
        """The file with the certificate of the endpoint, in the directory of the job."""
        key: NotRequired[str]
        """The file with the key of the certificate."""
        token: NotRequired[str]
        """The file with the token that a report must carry."""
        files: NotRequired[Json]
        """The contents of these three files, for hosts that do not have them."""

    class StepPlan(TypedDict):
        """How srun starts the pods of one role."""

        group: int | None
        """The component of a heterogeneous job; null where the job has only one."""
        nodes: int | None
        """The number of nodes, where each pod has one of its own."""
        overlap: bool
        """Whether the pods use what another step holds."""

    class SlurmPlan(TypedDict):
        """What the driver of a job on Slurm and its relay must know."""

        cluster: str
        """The name of the cluster in `config.yaml`."""
        site: str
        """The name of the cluster, with the partition where one is named."""
        login: Json
        """How the login node is reached, without secrets."""
        containers: str
        """The program that runs images; empty where there is none."""
        grace: int
        """The longest time that a pod has to end, in seconds."""
        requeue: bool
        """Whether Slurm may start the job again."""
        hold: bool
        """Whether the job begins suspended, which Slurm calls held."""
        roles: dict[str, StepPlan]
        """The steps of the job, by the name of the role."""
        shared: NotRequired[bool]
        """False: the nodes share no file system with the login node."""
        scratch: NotRequired[str]
        """Where such nodes keep the files of the job."""
        array: NotRequired[Json]
        """The place of the job in an array."""
        annex: NotRequired[list[str]]
        """The options of sbatch that get an elastic job one node more."""

    class ContainerPlan(TypedDict):
        """What runs containers in their images."""

        tool: str
        """The word is `podman` or `docker`."""
        program: str
        """The program to start."""
        flags: NotRequired[list[str]]
        """The arguments that come before each command of the tool."""
        runFlags: NotRequired[list[str]]
        """The further arguments with which a container is started."""

    class EnvironmentPlan(TypedDict):
        """The Python environment of the job, which its host makes before its processes start."""

        requirements: str
        """The packages, as the lines of a requirements file."""
        without: list[str]
        """The roles that run without it."""

    class MpiPlan(TypedDict):
        """How the launcher of an MPI job reaches its workers."""

        secret: str
        """The name of the Secret that has the key."""

    class LauncherPart(TypedDict):
        """The part of a plan that only a job with a launcher has."""

        mpi: NotRequired[MpiPlan]

    class Plan(LauncherPart):
        """One JobSet with all that an agent needs to run it."""

        version: int
        """The version of this document."""
        id: str
        """The id of the job."""
        name: str
        """The name of the job."""
        namespace: str
        """The namespace that the pods are told."""
        jobset: Json
        """The JobSet that the agent runs."""
        objects: list[Json]
        """The ConfigMaps and Secrets of the job; a large value may be `{"$blob": SHA256}`."""
        workdir: str
        """The working directory of processes whose containers name none."""
        mounts: str
        """The word `namespace`: volumes appear at their real paths, in a mount namespace."""
        network: NetworkPlan
        status: StatusPlan
        env: NotRequired[dict[str, str]]
        """The variables that every process of the job starts with."""
        devices: NotRequired[dict[str, Json]]
        """The devices of each pod on this machine, by the pod's key."""
        host: NotRequired[HostPlan]
        containers: NotRequired[ContainerPlan]
        environment: NotRequired[EnvironmentPlan]
        honours: NotRequired[list[str]]
        """Those of `image` and `limits` that whoever starts the agent sees to."""
        logs: NotRequired[Json]
        """`limit`: the bytes that the logs of the job may take."""
        cluster: NotRequired[str]
        """The cluster whose working directory the job has."""
        demand: NotRequired[list[PodDemand]]
        """What each pod needs, for a pool agent or for Slurm."""
        priority: NotRequired[int]
        """The priority of the job; higher ones go first."""
        oversubscribe: NotRequired[bool]
        """Whether the job may start though there is not enough room."""
        pool: NotRequired[str]
        """The pool that runs the job."""
        queue: NotRequired[str]
        """The cluster in whose queue the job waits; empty: that of the pool itself."""
        outputs: NotRequired[str]
        """`copy`: the output is copied to the server; `keep`: it stays where it is."""
        bring: NotRequired[list[str]]
        """Not used: no agent reads it."""
        slurm: NotRequired[SlurmPlan]
