"""Whether the pods of a gang have room on nodes, now or if nobody else were there. Pure.

Pods are placed one after the other, the largest first, each on the first node that has room for it.
That may miss a placement which a scheduler would find, so it is said when a job would wait, but it
is never said that a job fits where it does not.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from trainway.backends.elastic_demand import ElasticNodes
from trainway.backends.nodes import Node
from trainway.counting import counted
from trainway.engine.placement.offer import Fit

if TYPE_CHECKING:
    from trainway.agent.base.plan_document import PodDemand

_THOUSAND: Final = 1000


@dataclass
class _Room:
    """What is left of a node."""

    cpus: int
    """In thousandths."""
    memory: int
    gpus: int
    apart: set[str] = field(default_factory=set)
    """The words of the pods on it that share no node with others of the same word."""

    def take(self, pod: "_Pod") -> bool:
        """Place a pod here if it fits."""
        short = pod.cpus > self.cpus or pod.memory > self.memory or pod.gpus > self.gpus
        if short or pod.apart in self.apart:
            return False
        self.cpus -= pod.cpus
        self.memory -= pod.memory
        self.gpus -= pod.gpus
        if pod.apart:
            self.apart.add(pod.apart)
        return True


@dataclass(frozen=True, order=True)
class _Pod:
    """What one pod needs; those that need more are larger."""

    gpus: int
    cpus: int
    memory: int
    apart: str
    role: str = field(default="", compare=False)


def fit(
    demands: "Iterable[PodDemand]",
    nodes: Sequence[Node],
    elastic: ElasticNodes | None = None,
    *,
    begins_smaller: bool = False,
) -> tuple[Fit, str]:
    """Whether the pods fit on the nodes, and that in words.

    No place refuses a gang with elastic nodes of which enough would fit. Where it `begins_smaller`,
    it is there at once.
    """
    pods = sorted(map(_pod, demands), reverse=True)
    open_nodes = [node for node in nodes if not node.problem]
    if not open_nodes:
        return _closed(nodes)
    free = _unplaced(pods, [_free(node) for node in open_nodes])
    if not free:
        return Fit.NOW, f"all of it fits on {counted(len(open_nodes), 'node')} now"
    if begins_smaller and elastic is not None and _does_without(free, elastic):
        number = f"{elastic.most - len(free)} of its {elastic.most} nodes"
        return Fit.NOW, f"{number} fit now, and others join when there is room"
    whole = _unplaced(pods, [_whole(node) for node in open_nodes])
    if _does_without(whole, elastic):
        return Fit.LATER, f"there is no room now for {_pods(free)}"
    everything = _unplaced(pods, [_whole(node) for node in nodes])
    if _does_without(everything, elastic):
        shut = len(nodes) - len(open_nodes)
        takes = "takes" if shut == 1 else "take"
        return Fit.LATER, f"it needs {counted(shut, 'node')} that {takes} no jobs now"
    return Fit.NEVER, f"no node there has room for {_pods(everything)}"


def _does_without(missing: Sequence[_Pod], elastic: ElasticNodes | None) -> bool:
    """Whether a gang can do without these pods."""
    if elastic is None:
        return not missing
    is_spare = all(pod.role == elastic.role for pod in missing)
    return is_spare and len(missing) <= elastic.most - elastic.least


def _closed(nodes: Sequence[Node]) -> tuple[Fit, str]:
    if not nodes:
        return Fit.NEVER, "it has no nodes"
    many = f"none of its {len(nodes)} nodes takes jobs"
    said = "its node takes no jobs" if len(nodes) == 1 else many
    return Fit.UNKNOWN, f"{said} now: {nodes[0].problem}"


def _unplaced(pods: Sequence[_Pod], rooms: Sequence[_Room]) -> list[_Pod]:
    return [pod for pod in pods if not any(room.take(pod) for room in rooms)]


def _pods(missing: Sequence[_Pod]) -> str:
    """Those without a place, and what the largest of them needs."""
    largest = missing[0]
    needs = [
        counted(largest.gpus, "GPU") if largest.gpus else "",
        counted(_number(largest.cpus), "CPU") if largest.cpus else "",
        f"{largest.memory / 2**30:.3g} GiB of memory" if largest.memory else "",
        "a node of its own" if largest.apart else "",
    ]
    each = ", ".join(part for part in needs if part)
    more = "" if len(missing) == 1 else f"{len(missing)} nodes of the job, the largest "
    return f"{more or 'a node of the job '}with {each}" if each else "it"


def _number(thousandths: int) -> int | float:
    return thousandths // _THOUSAND if thousandths % _THOUSAND == 0 else thousandths / _THOUSAND


def _pod(demand: "PodDemand") -> _Pod:
    return _Pod(
        gpus=-int(-demand["gpus"] // 1),
        cpus=round(demand["cpus"] * _THOUSAND),
        memory=demand["memory"],
        apart=demand.get("apart", ""),
        role=demand["pod"].rsplit("-", 2)[0],
    )


def _free(node: Node) -> _Room:
    return _Room((node.free_cpus * _THOUSAND).ceil(), node.free_memory.ceil(), node.free_gpus)


def _whole(node: Node) -> _Room:
    return _Room((node.cpus * _THOUSAND).ceil(), node.memory.ceil(), node.gpus)
