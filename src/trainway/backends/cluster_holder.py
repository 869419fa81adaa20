"""What a family does for clusters that are to be on its nodes.

A pool agent keeps each cluster, whichever family the nodes are of. What differs is here: which
agent that is, which hosts it is told of, and what else it must know to get nodes.
"""

from typing import Protocol

from trainway.compiler.network import JobIdentity, Network
from trainway.json_types import Json


class ClusterHolder(Protocol):
    """Knows how nodes of one family are held."""

    def infra(self, region: str | None, zone: str | None) -> str:
        """The full name of an infrastructure; raises why a cluster cannot be there."""
        ...

    def pool(self, infra: str, cluster: str) -> str:
        """The name of the agent that keeps a cluster there."""
        ...

    def hosts(self, infra: str) -> list[Json]:
        """The hosts, as the agent is told of them; none: it learns them when it gets nodes."""
        ...

    def outputs(self, infra: str) -> str:
        """Whether what jobs leave in their output folders comes back, or stays there."""
        ...

    def order(self, infra: str, cluster: Json) -> Json:
        """A cluster as the agent is told to hold it; raises what is wrong with its options."""
        ...

    def network(self, job: JobIdentity, port: int) -> Network:
        """Where the pods of a job of a cluster find each other."""
        ...
