"""The health check of a pod, as a container that comes before all others."""

from __future__ import annotations

from trainway.agent.base.pod_status import HEALTH_CHECK_FAILED, PEER_UNHEALTHY
from trainway.agent.kubelet.command import Command
from trainway.agent.kubelet.container import INIT, Container
from trainway.agent.kubelet.health import program, torch_reduce
from trainway.agent.kubelet.health.verdict import OTHER_UNHEALTHY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.base.event_loop import Timer
    from trainway.agent.base.pod_identity import PodIdentity
    from trainway.agent.kubelet.container import Owner
    from trainway.agent.kubelet.node import Node
    from trainway.agent.kubelet.processes import Process
    from trainway.json_types import Json

NAME = "health-check"
SLACK = 45.0
"""How many seconds disk and GPUs may take beside the network, and the stop of a sound node."""
LONGEST_ANSWER = 4096


def peers_of(pod: PodIdentity) -> list[str]:
    """The keys of the pods that start together with a pod, its own among them; empty: it is alone.

    A pod that replaces another one is alone: its peers have passed their check long ago. So is one
    of an elastic job, which may start with fewer.
    """
    job = pod.role.job
    count = job.parallelism
    is_whole = job.indexed and job.minimum is None and job.completions == count
    if not is_whole or pod.failures or pod.slot >= count:
        return []
    return [f"{pod.role.name}-{pod.job_index}-{slot}" for slot in range(count)]


class HealthCheck(Container):
    """Runs `program` in a child, and has its answer."""

    def __init__(self, pod: PodIdentity, seconds: float, owner: Owner, node: Node) -> None:
        super().__init__({"name": NAME}, INIT, owner, node)
        self._pod = pod
        self._seconds = seconds
        self._answer = b""
        self._timer: Timer | None = None

    @property
    def runs_again(self) -> bool:
        """It has one answer."""
        return False

    @property
    def answer(self) -> str:
        """What was found, as a sentence."""
        said = self._answer.decode("utf-8", "replace").strip()
        return said or f"the health check did not end within {self._limit:g} s"

    @property
    def _limit(self) -> float:
        """After how many seconds nobody waits for its answer any more."""
        more = torch_reduce.SECONDS if self._pod.plan.health_torch else 0.0
        return self._seconds + SLACK + more

    @property
    def failure(self) -> str:
        """The reason of a pod whose check has ended badly."""
        is_other = self.exit_code == OTHER_UNHEALTHY
        return PEER_UNHEALTHY if is_other else HEALTH_CHECK_FAILED

    def prepare(self) -> None:
        """Gather what is to be asked."""
        pod, node = self._pod, self._node
        keys = peers_of(pod)
        addresses = {key: node.addresses.get(key) or node.plan.host_ip for key in keys}
        env = node.environment(pod)
        asked = program.Questions(node.output, node.gpus(pod), env, addresses, self._seconds)
        asked.rank, asked.attempt = pod.slot, pod.attempt
        asked.word = f"{node.plan.id}:{pod.role.name}-{pod.job_index}:{pod.attempt}"
        if pod.plan.health_torch:
            main: Json = (pod.role.pod_spec.get("containers") or [{}])[0]
            told = ((str(each["name"]), each.get("value")) for each in main.get("env") or ())
            asked.env = {**env, **{name: str(text) for name, text in told if text}}
            asked.wants_torch, asked.python = True, torch_reduce.python_of(main, asked.env)
        mark = f"{pod.uid}/{NAME}"
        self.command = Command([], env=env, mark=mark, function=lambda: program.run(asked))

    def start(self) -> None:
        """Start it, and give up on it after a time."""
        super().start()
        self._timer = self._node.loop.call_later(self._limit, self.kill)

    def on_output(self, stream: bytes, data: bytes) -> None:  # noqa: ARG002 - it has but one
        """Keep its answer."""
        self._answer = (self._answer + data)[:LONGEST_ANSWER]

    def on_gone(self, process: Process) -> None:
        """It has ended."""
        if self._timer is not None:
            self._timer.cancel()
        super().on_gone(process)
