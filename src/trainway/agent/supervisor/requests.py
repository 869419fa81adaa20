"""What a client may ask an agent over its unix socket, `agent.sock`. For type checkers only.

One JSON object a line each way. The agent of a local job has the operations of one job; a pool
agent has those of all its jobs, by their ids, and of its clusters. `docs/protocols.md` is made from
this module.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NotRequired, TypedDict

    from trainway.json_types import Json

    class OfJob(TypedDict):
        """What every request about one job has."""

        id: NotRequired[str]
        """The id of the job; only a pool agent must be told."""

    StartingAt = TypedDict("StartingAt", {"from": int}, total=False)
    """The number of the first record that is wanted."""

    class WatchJob(OfJob, StartingAt):
        """Asks for the journal from a record on, and all that follows, until the job ends.

        The connection then takes no other request.
        """

        op: Literal["watch"]

    class AgentStatus(TypedDict):
        """Asks a job's agent for the JobSet's status and the pods, a pool agent for all it has."""

        op: Literal["status"]

    class SuspendJob(OfJob):
        """Suspends the job. Answered when that is under way."""

        op: Literal["suspend"]

    class ResumeJob(OfJob):
        """Resumes the job. Answered when that is under way."""

        op: Literal["resume"]

    class CancelJob(OfJob):
        """Ends the job. Answered when none of its processes is left."""

        op: Literal["cancel"]
        grace: NotRequired[int]
        """0: the pods are killed at once."""

    class LeaveJob(OfJob):
        """Lets go of a suspended job, so that another agent can go on with it.

        Answered when none of its processes is left.
        """

        op: Literal["leave"]

    class ResizeJob(OfJob):
        """Lets an elastic job have fewer nodes, or more again. Answered when that is under way."""

        op: Literal["resize"]
        nodes: int
        """The most nodes that it may have from now on; it never gets below its minimum."""

    JobRequest = AgentStatus | SuspendJob | ResumeJob | CancelJob | LeaveJob | ResizeJob

    class ForgetJob(OfJob):
        """Ends the job, and removes what hosts have of it. Only a pool agent takes it."""

        op: Literal["forget"]

    class Configure(TypedDict):
        """Says which hosts the pool has."""

        op: Literal["configure"]
        hosts: list[Json]
        """The hosts, with the fields of `config.yaml`."""
        environ: NotRequired[dict[str, str]]
        """The variables with which ssh is started."""

    class DrainHost(TypedDict):
        """Lets a host take no new pods, or lets it again. Answered when that is on the disk."""

        op: Literal["drain"]
        host: str
        """The name of the host."""
        why: NotRequired[str]
        """Why, in a sentence; empty: the host may take pods again."""
        by: NotRequired[str]
        """Who wants it."""
        until: NotRequired[float]
        """When it may take pods again by itself, in seconds since 1970."""

    class LendCredentials(TypedDict):
        """Gives jobs on rented hosts credentials that expire soon; they are never written down."""

        op: Literal["lend"]
        files: dict[str, str]
        """What is in each file; `{folder}` stands for the folder of the files on a host."""
        variables: dict[str, str]
        """The variables of jobs, and the file that each names."""

    class SubmitJob(TypedDict):
        """Hands a job over; one that the pool agent has already is left alone."""

        op: Literal["submit"]
        directory: str
        """The directory of the job, with its plan."""

    class ClusterWish(TypedDict):
        """A cluster that is to be held."""

        name: str
        """The name of the cluster."""
        id: str
        """The id of the cluster, which no other cluster ever has."""
        nodes: int
        """The number of nodes."""
        cpus: NotRequired[float]
        """The CPUs of each node."""
        memory: NotRequired[int]
        """The bytes of memory of each node."""
        gpus: NotRequired[float]
        """The GPUs of each node."""
        autostop: NotRequired[Json | None]
        """`minutes` and `down`: when the cluster stops by itself."""
        given: NotRequired[bool]
        """Whether somebody else decides on its nodes."""
        slurm: NotRequired[Json]
        """The batch job that holds the nodes, where Slurm does."""

    class Allocate(TypedDict):
        """Holds a cluster. Answered at once, or when Slurm has its job; nodes may come later."""

        op: Literal["allocate"]
        cluster: ClusterWish

    class ReleaseCluster(TypedDict):
        """Ends the jobs of a cluster and gives back its nodes. Answered when that is done."""

        op: Literal["release"]
        cluster: str
        """The name of the cluster."""
        stop: bool
        """Whether the cluster can be started again."""
        purge: NotRequired[bool]
        """Give it back as soon as that is possible, and answer at once."""
        message: NotRequired[str]
        """Why it stops, for people, if nobody has asked for that."""

    class StartCluster(TypedDict):
        """Gives a stopped cluster its nodes again."""

        op: Literal["start"]
        cluster: str
        """The name of the cluster."""
        placement: NotRequired[Json]
        """The nodes, where the server has chosen them."""

    class SetAutostop(TypedDict):
        """Sets when a cluster stops by itself."""

        op: Literal["autostop"]
        cluster: str
        """The name of the cluster."""
        minutes: float | None
        """The minutes without a job; null: never."""
        down: bool
        """Whether the cluster is forgotten, too."""

    class WatchClusters(TypedDict):
        """Asks for all clusters, now and after every change."""

        op: Literal["clusters"]
