"""The nodes of a Slurm cluster, and which of them our jobs are kept off.

A node that failed the health check of one job is no better for the next. Slurm is told with each
job that is sent (`--exclude`); taking the node out of use is for the administrators.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from trainway.agent.slurm.relay.cluster_facts import NODES
from trainway.backends.avoided_nodes import AvoidedNodes
from trainway.backends.nodes import Drain, Node
from trainway.backends.slurm import refusals
from trainway.backends.slurm.nodes import nodes_of
from trainway.backends.slurm.options import Options, keeping_off
from trainway.errors import NotFoundError, TrainwayError

_MOST_SHOWN: Final = 8
_LACKS_NODES: Final = "node"
"""What is in the words of Slurm where a job gets no nodes."""


def kept_off(place: str, nodes: Collection[str], said: Options) -> list[str]:
    """What the owner of a job with these options is told of nodes that it does not get. Pure."""
    if keeping_off(said, nodes) == said:
        return []
    which = ", ".join(sorted(nodes)[:_MOST_SHOWN]) + (", ..." if len(nodes) > _MOST_SHOWN else "")
    words = f"node {which}, which is" if len(nodes) == 1 else f"nodes {which}, which are"
    return [f"it is kept off {words} set aside: trainway nodes list --on {place} says why"]


class ClusterNodes:
    """The nodes of one place: a cluster, or a partition of one."""

    def __init__(
        self,
        place: str,
        avoided: AvoidedNodes,
        printed: Callable[[list[str]], Awaitable[str]],
    ) -> None:
        """`place` is `slurm/CLUSTER[/PARTITION]`; `printed` has what a program of Slurm prints."""
        self._place = place
        self._partition = place.partition("/")[2].partition("/")[2]
        self._avoided = avoided
        self._printed = printed

    async def listed(self) -> list[Node]:
        """As Slurm has them, with those that our jobs are kept off."""
        return self._avoided.marked(await self._found())

    async def _found(self) -> list[Node]:
        return nodes_of(await self._printed(NODES), self._partition)

    async def prune(self) -> None:
        """Forget avoided nodes that the cluster does not have any more: sbatch refuses them."""
        if not self._avoided.is_empty:
            there = {node.name for node in nodes_of(await self._printed(NODES))}
            if there:
                self._avoided.keep(there)

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Say with a refusal of Slurm for lack of nodes which of them are avoided."""
        try:
            yield
        except TrainwayError as error:
            avoided = kept_off(self._place, self._avoided.names(), {})
            if avoided and _LACKS_NODES in error.message.lower():
                error.hint = "; ".join([*filter(None, [error.hint]), *avoided])
            raise

    async def drain(self, node: str, drain: Drain) -> None:
        """Have later jobs kept off a node."""
        self._refuse_unknown(node, await self.listed())
        self._avoided.add(node, drain)

    async def undrain(self, node: str) -> None:
        """Let jobs run there again; what the administrators have set aside is theirs to take back.

        The login node need not answer for one that only we avoid.
        """
        if self._avoided.remove(node):
            return
        nodes = await self.listed()
        self._refuse_unknown(node, nodes)
        if any(each.problem for each in nodes if each.name == node):
            raise refusals.not_our_node(self._place, f"nodename={node} state=resume")

    async def note(self, records: Iterable[Mapping[str, Any]], job: str) -> None:
        """Keep later jobs off the nodes that failed a health check, unless no other is left."""
        await self._avoided.note_all(records, job, self._found)

    def _refuse_unknown(self, node: str, nodes: list[Node]) -> None:
        names = [each.name for each in nodes]
        if node not in names:
            more = ", ..." if len(names) > _MOST_SHOWN else ""
            listed = ", ".join(names[:_MOST_SHOWN]) + more
            raise NotFoundError(f"{self._place} has no node {node}", hint=f"its nodes are {listed}")
