"""What an agent answers over its unix socket, `agent.sock`. For type checkers only.

Each request of `requests` gets one answer; `watch` gets the records of a journal instead, and
`clusters` one more answer after every change. `docs/protocols.md` is made from this module.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NotRequired, TypedDict

    from trainway.json_types import Json

    class SocketAnswer(TypedDict, total=False):
        """What every answer has."""

        ok: bool
        """Whether it was done."""
        error: str
        """Why it was not done."""
        code: str
        """The code of the error, for example `not_found`."""
        hint: str
        """What the user can do about it."""

    class JobAnswer(SocketAnswer, total=False):
        """The answer to a request about a job."""

        pid: int
        """The process of the agent, with `status`."""
        jobset: Json
        """The status of the JobSet."""
        pods: list[Json]
        """The pods that have not ended, as the journal has them, with `status`."""

    class ClusterNode(TypedDict):
        """One node of a cluster."""

        host: str
        """The name of the host in its pool."""
        address: str
        """The address of the host."""
        gpus: list[str]
        """The GPUs of the host that the cluster has, by their names."""
        lost: NotRequired[bool]
        """Whether the host is lost; only there where it is."""
        notice: NotRequired[Json]
        """What the cloud of the host has told it of being taken: `at`, `why`, and `risk` where that
        is only likely; only there where it has."""

    class ClusterState(TypedDict):
        """One cluster, as it is now."""

        name: str
        """The name of the cluster."""
        id: str
        """The id of the cluster."""
        state: str
        """The state is `INIT`, `UP`, `AUTOSTOPPING` or `STOPPED`."""
        message: str
        """Why the cluster is in its state, in one sentence."""
        nodes: list[ClusterNode]
        """The nodes that the cluster has."""
        autostop: Json | None
        """`minutes` and `down`: when the cluster stops by itself; null: never."""
        idleSince: float | None
        """When the last job of the cluster ended, in seconds since 1970; null: it is not idle."""

    class ClusterAnswer(SocketAnswer, total=False):
        """The answer to a request about one cluster."""

        cluster: ClusterState

    class ClustersAnswer(SocketAnswer, total=False):
        """The answer to `clusters`, and what follows it."""

        clusters: list[ClusterState]
        """All clusters of the pool agent."""

    class PoolAnswer(ClustersAnswer):
        """The answer of a pool agent to `status`."""

        pid: int
        """The process of the agent."""
        owner: str
        """The id of the pool agent, by which hosts know it."""
        hosts: list[Json]
        """The hosts of the pool: what each has, what of it is free, and what is wrong with it."""
        jobs: list[str]
        """The ids of all jobs."""
        queue: list[str]
        """The ids of the jobs that wait, in their order."""
