"""When the end of a pod counts: not before all that it left is here, nor while it may mean a loss.

Where the nodes share no files, what a pod left is brought here first. And a failure may come from a
node that is gone, so it waits until the tasks on all other nodes have been heard since (`inquiry`).
"""

from __future__ import annotations

from trainway.agent.base.pod_status import TERMINAL
from trainway.agent.supervisor.inquiry import Inquiry
from trainway.agent.supervisor.remote_pod import is_disrupted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.slurm.driver.node_links import NodeLinks
    from trainway.agent.slurm.driver.step_pods import StepPods
    from trainway.agent.supervisor.remote_pod import RemotePod
    from trainway.json_types import Json


class PodEnds:
    """What the tasks of an attempt say about their pods."""

    def __init__(
        self,
        pods: StepPods,
        links: NodeLinks | None,
        is_leaving: Callable[[], bool],
        carry_out: Callable[[RemotePod, Json], None],
    ) -> None:
        """`carry_out` gets what counts; while the driver leaves, a failure counts at once."""
        self._pods = pods
        self._links = links
        self._is_leaving = is_leaving
        self._carry_out = carry_out
        self._inquiry = Inquiry(pods.ask)
        self._drained: set[str] = set()
        """The pods whose end counts when all is here that they left."""

    def has_ended(self, pod: RemotePod) -> bool:
        """Whether the end of a pod is known, even if it does not count yet."""
        uid = pod.identity.uid
        return pod.terminal or uid in self._drained or self._inquiry.holds_pod(uid)

    def take(self, pod: RemotePod, record: Json) -> None:
        """A task says how its pod is."""
        if record.get("phase") not in TERMINAL:
            self._judge(pod, record)
            return
        self._inquiry.answered(pod.identity.uid)
        if self._links is None:
            self._judge(pod, record)
            return
        self._drained.add(pod.identity.uid)
        self._links.drain(pod.host, lambda: self._on_drained(pod, record))

    def _on_drained(self, pod: RemotePod, record: Json) -> None:
        """All that a pod left is here."""
        self._drained.discard(pod.identity.uid)
        self._judge(pod, record)
        self.release()

    def _judge(self, pod: RemotePod, record: Json) -> None:
        if self.has_ended(pod):
            return
        suspects = self._suspects(pod, record)
        if suspects:
            self._inquiry.hold(pod.identity.uid, record, suspects)
        else:
            self._carry_out(pod, record)

    def _suspects(self, pod: RemotePod, record: Json) -> list[str]:
        """The pods whose loss, with their node, would explain a failure."""
        own = record.get("phase") == "Failed" and not is_disrupted(record)
        if pod.deleted or self._is_leaving() or not own:
            return []
        others = [item for item in self._pods.sent() if item.host != pod.host]
        return [item.identity.uid for item in others if not self.has_ended(item)]

    def answered(self, uid: str) -> None:
        """The task of a pod was heard."""
        self._inquiry.answered(uid)

    def lost(self, uid: str) -> None:
        """The task of a pod will not be heard."""
        self._inquiry.lost(uid)

    def release(self) -> None:
        """Carry out what needs to wait no more."""
        for uid, record in self._inquiry.released(lambda _uid: 0):
            pod = self._pods.get(uid)
            if pod is not None:
                self._carry_out(pod, record)

    def drop_held(self) -> list[RemotePod]:
        """Forget the ends that wait; the pods that had them."""
        held, self._inquiry = self._inquiry, Inquiry(self._pods.ask)
        return [pod for pod in self._pods.sent() if held.holds_pod(pod.identity.uid)]
