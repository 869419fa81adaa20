"""The handles of jobs: by what a backend finds a job again, whatever becomes of the configuration.

The store keeps a handle as JSON with its job; only the backend that made it reads it. A new field
is therefore always optional. `docs/protocols.md` is made from this module.
"""

from typing import NotRequired, TypedDict

from trainway.json_types import Json


class JobHandle(TypedDict):
    """What every handle has."""

    id: str
    """The id of the job."""
    directory: str
    """The directory of the job on this machine; empty where the home directory tells."""
    port: int
    """The port on which the pods of the job meet."""


class PoolHandle(JobHandle):
    """A job on SSH hosts, or in a cluster that a pool agent keeps."""

    site: str
    """The pool or the cluster, as the user named it."""
    pool: str
    """The pool agent that runs the job."""
    queue: str
    """The cluster in whose queue the job is; empty: that of the pool."""
    outputs: str
    """`copy`: the output is copied here; `keep`: it stays on the hosts."""


class SlurmHandle(JobHandle):
    """A job on Slurm."""

    site: str
    """The cluster, with the partition where one was named."""
    cluster: Json
    """How the login node is reached, without secrets."""
    outputs: str
    """`copy`: the output is copied here; `keep`: it stays on the cluster."""
    containers: str
    """The program that runs images; empty where there is none."""
    mark: str
    """How a person finds the job in Slurm's queue."""
    requeue: NotRequired[bool]
    """Whether Slurm may requeue the job, so that it can be suspended; it may, where nothing is
    said."""


class KubernetesHandle(JobHandle):
    """A job on Kubernetes."""

    kubeconfig: list[str]
    """The kubeconfig files; none: the usual ones."""
    context: str
    """The context of the kubeconfig."""
    namespace: str
    """The namespace of the objects."""
    name: str
    """The name of the job."""
    form: str
    """The form in which the job was sent: as it was written, as a JobSet, or as plain Jobs."""
    kind: str
    """The kind of the object that all others belong to."""
    top: str
    """The name of that object."""
    roles: dict[str, int]
    """The number of Jobs of each role."""
    queue: NotRequired[str]
    """The queue of Kueue that admits the job."""
    policy: NotRequired[Json]
    """The policies of the JobSet, where the backend carries them out itself."""
    jobs: NotRequired[list[Json]]
    """The plain Jobs as they were sent, where the backend may have to make them again."""
    needed: NotRequired[list[str]]
    """The roles that have to succeed; without it, all."""
    elastic: NotRequired[dict[str, int]]
    """The most nodes of each role that may do with fewer."""
    continues: NotRequired[bool]
    """Whether the job goes on here with what it has written elsewhere."""
    held: NotRequired[bool]
    """Whether pods wait at their end until the server has what they wrote, and begin with it."""
    deadline: NotRequired[str]
    """`operator`: the operator of the cluster ends a job that runs for too long."""
    output: NotRequired[bool]
    """Whether the pods that an operator makes have a volume for their output, so that the job can
    move."""
