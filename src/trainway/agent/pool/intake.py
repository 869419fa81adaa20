"""What hosts say about a job, and what follows from it."""

from __future__ import annotations

from trainway.agent.base.pod_status import TERMINAL
from trainway.agent.supervisor.inquiry import Inquiry
from trainway.agent.supervisor.recovery import HOST_LOST, why_unhealthy
from trainway.agent.supervisor.remote_pod import is_disrupted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from abc import abstractmethod
    from typing import Protocol

    from trainway.agent.base.event_loop import Timetable
    from trainway.agent.pool.host_reports import HostReports
    from trainway.agent.supervisor.remote_pod import RemotePod
    from trainway.agent.supervisor.remote_pods import GangPods
    from trainway.agent.transfer.delivery import Deliveries
    from trainway.agent.transfer.frames import HostRequest, StopPod
    from trainway.json_types import Json

    class IntakeOwner(Protocol):
        """The gang, as far as it matters here."""

        id: str

        @property
        def running_token(self) -> int:
            """The token of the pods that run."""

        @abstractmethod
        def send(self, host: str, frame: HostRequest) -> bool:
            """Say something to a host."""

        @abstractmethod
        def pod_lost(self, uid: str, message: str) -> None:
            """A pod ended through no fault of its own."""

        @abstractmethod
        def node_unhealthy(self, uid: str, host: str, why: str) -> None:
            """The health check of a pod has found something wrong with its host."""

        @abstractmethod
        def ask_for_rest(self, host: str) -> None:
            """Have a host send what is missing here."""

        @abstractmethod
        def tell_once(self, reason: str, message: str) -> None:
            """Write a warning, unless there was one with that reason."""


RESEND_SECONDS = 1.0


class Intake:
    """Sorts out what hosts say."""

    def __init__(
        self,
        owner: IntakeOwner,
        pods: GangPods,
        reports: HostReports,
        deliveries: Deliveries,
        loop: Timetable,
    ) -> None:
        self._owner = owner
        self._pods = pods
        self._reports = reports
        self._deliveries = deliveries
        self._loop = loop
        self._asked: set[str] = set()
        self._inquiry = Inquiry(self._ask)

    def take(self, host: str, frame: Json) -> None:
        """A host of the job said something."""
        event = frame.get("event")
        if event == "record":
            if int(frame.get("token", -1)) == self._owner.running_token:
                self._on_record(host, frame)
        elif event == "log":
            if not self._reports.take_log(frame, self._pods.keys_on(host)):
                self._resend_soon(host)
        elif event == "output":
            problem = self._reports.take_output(host, frame)
            if problem:
                self._owner.tell_once("OutputNotCopied", problem)
        elif event == "echo":
            self._inquiry.answered(host)
            self._release()
        else:
            self._on_answer(host, frame)

    def connected(self, host: str, last: int) -> None:
        """A host is there again, with records up to that one."""
        self._inquiry.connected(host, last)

    def begin_anew(self) -> None:
        """Nothing that was said before counts any more."""
        self._inquiry = Inquiry(self._ask)

    def lost(self, host: str) -> None:
        """A host will say nothing more."""
        self._inquiry.lost(host)
        self._release()

    def _ask(self, host: str) -> None:
        self._owner.send(host, {"op": "echo", "id": self._owner.id})

    def _release(self) -> None:
        for host, frame in self._inquiry.released(self._reports.seq):
            self._carry_out(host, frame)

    def _on_record(self, host: str, frame: Json) -> None:
        if not self._reports.is_news(host, frame):
            return
        suspects = self._suspects(host, frame)
        if suspects or self._inquiry.holds(host):
            self._inquiry.hold(host, frame, suspects)
            return
        self._carry_out(host, frame)
        self._release()

    def _suspects(self, host: str, frame: Json) -> list[str]:
        """The hosts whose loss would explain a failure."""
        pod = self._pods.get(str(frame.get("uid")))
        own = frame.get("phase") == "Failed" and not is_disrupted(frame)
        if pod is None or pod.deleted or pod.terminal or not own:
            return []
        others = [item for item in self._pods.sent() if item.host != host]
        found = {item.host for item in others if not self._inquiry.holds_pod(item.identity.uid)}
        return sorted(found)

    def _carry_out(self, host: str, frame: Json) -> None:
        if frame.get("type") == "pod":
            self._on_pod(host, frame)
        else:
            self._reports.take_record(host, frame)

    def _on_pod(self, host: str, frame: Json) -> None:
        uid = str(frame.get("uid"))
        pod = self._pods.get(uid)
        if pod is None or pod.host != host:
            if frame.get("phase") not in TERMINAL:
                stop: StopPod = {"op": "stop", "id": self._owner.id, "uid": uid, "how": "kill"}
                self._owner.send(host, stop)
            return
        if is_disrupted(frame) and not pod.deleted:
            self._on_disrupted(pod, frame)
        pod.take(frame)

    def _on_disrupted(self, pod: RemotePod, frame: Json) -> None:
        unhealthy, uid = why_unhealthy(frame), pod.identity.uid
        if unhealthy:
            self._owner.node_unhealthy(uid, pod.host, unhealthy)
            return
        why = str(frame.get("message") or frame.get("reason"))
        self._owner.pod_lost(uid, f"pod {pod.identity.key} on host {pod.host} was lost: {why}")

    def _on_answer(self, host: str, frame: Json) -> None:
        event = frame.get("event")
        error = str(frame.get("error") or frame.get("message") or "")
        if event == "missing":
            self._deliveries.on_missing(host, frame.get("blobs") or [])
        elif event == "job" and not error:
            self._deliveries.on_answer(host)
        elif event == "job":
            for pod in self._pods.on(host):
                pod.fail("FailedCreate", f"host {host}: {error}")
        elif event == "error":
            found = self._pods.get(str(frame.get("uid") or ""))
            if found is not None and frame.get("op") == "start":
                found.fail("FailedCreate", f"host {host}: {error}")
            elif found is not None and frame.get("op") == "stop" and not found.seen:
                found.lose(HOST_LOST, f"host {host} was lost before the pod began")
            else:
                message = f"host {host}: {frame.get('op')}: {error}"
                self._owner.tell_once("HostError", message)

    def _resend_soon(self, host: str) -> None:
        """A piece of a log is missing or could not be written: ask for it once more."""
        if host in self._asked:
            return
        self._asked.add(host)

        def ask() -> None:
            self._asked.discard(host)
            self._owner.ask_for_rest(host)

        self._loop.call_later(RESEND_SECONDS, ask)
