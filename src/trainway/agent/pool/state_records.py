"""What a pool agent writes into `state.jsonl` for the next one. For type checkers only.

One JSON object a line. `docs/protocols.md` is made from this module.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NotRequired, TypedDict

    from trainway.json_types import Json

    class OwnerState(TypedDict):
        """Who the pool agent is, for the hosts."""

        type: Literal["owner"]
        owner: str
        """The id by which hosts know the pool agent."""
        order: int
        """The highest number that was given to a job or a cluster."""

    class HostsState(TypedDict):
        """The hosts of the pool."""

        type: Literal["hosts"]
        hosts: list[Json]
        """The hosts, with the fields of `config.yaml`."""

    class JobState(TypedDict):
        """A job came."""

        type: Literal["job"]
        id: str
        """The id of the job."""
        directory: str
        """The directory of the job, with its plan and its journal."""
        order: int
        """The place of the job in the order in which jobs came."""

    class JobOver(TypedDict):
        """A job is over, or cannot be taken up again."""

        type: Literal["over"]
        id: str
        """The id of the job."""

    class ClusterState(TypedDict):
        """A cluster changed, or is gone."""

        type: Literal["cluster"]
        cluster: Json
        """All that the next pool agent must know of the cluster."""
        gone: NotRequired[bool]
        """The cluster is no more."""

    class DrainState(TypedDict):
        """A host was set aside, or may take pods again."""

        type: Literal["drain"]
        host: str
        """The name of the host."""
        why: str
        """Why it takes no new pods, in a sentence; empty: it does."""
        by: NotRequired[str]
        """Who has set it aside."""
        since: NotRequired[float]
        """When that was, in seconds since 1970."""
        until: NotRequired[float]
        """When it takes pods again by itself, in seconds since 1970."""

    StateRecord = OwnerState | HostsState | JobState | JobOver | ClusterState | DrainState
