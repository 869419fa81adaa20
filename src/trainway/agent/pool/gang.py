"""One job of the pool: its controllers here, its pods on hosts, and the token that fences them.

The journal is the job's memory: a placement is written before anything is sent, so that the next
pool agent finds every pod there can be. The token grows whenever a placement is given up, and hosts
stop what has a lower one. A placement that is given up is left first: its resources are free when
the last of its pods has ended or counts as lost.
"""

from __future__ import annotations

from trainway.agent.base.journal import Journal
from trainway.agent.base.plan import Plan
from trainway.agent.base.transitions import following
from trainway.agent.pool.gang_elasticity import ElasticGang
from trainway.agent.pool.gang_recovery import GangMemory
from trainway.agent.pool.gang_state import TRANSITIONS, WITH_PLACE, WITHOUT_PLACE, GangState
from trainway.agent.pool.host_reports import HostReports
from trainway.agent.pool.intake import Intake
from trainway.agent.pool.lease import LOST, SILENT, UP
from trainway.agent.pool.placement import Placement
from trainway.agent.pool.start_frame import start_frame
from trainway.agent.supervisor.recovery import HOST_LOST, begun
from trainway.agent.supervisor.remote_pods import GangPods
from trainway.agent.supervisor.supervisor import Supervisor
from trainway.agent.transfer.delivery import Deliveries
from trainway.agent.transfer.delivery_report import DeliveryReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.base.directory import Directory
    from trainway.agent.base.records import PlacementRecord, WaitingRecord
    from trainway.agent.pool.gang_context import GangPool
    from trainway.agent.supervisor.control import Answer
    from trainway.agent.supervisor.remote_pod import RemotePod
    from trainway.agent.transfer.frames import HostRequest, Remove
    from trainway.json_types import Json

FLUSH_SECONDS = 1.0


class Gang(ElasticGang):
    """One job, from its submission to its end."""

    def __init__(self, pool: GangPool[Gang], directory: Directory, data: Json, order: int) -> None:
        self._pool = pool
        self._directory = directory
        self.plan = Plan(data)
        self.id, self.order = self.plan.id, order
        self._whole_demand = list(data.get("demand") or [])
        self.priority = int(data.get("priority") or 0)
        self.queue = str(data.get("queue") or "")
        self.oversubscribe = bool(data.get("oversubscribe"))
        self._keeps_output = data.get("outputs") == "keep"
        self.journal = Journal(directory, pool.clock.now)
        memory = GangMemory(self.journal.records)
        self.journal.records = []
        self._memory: GangMemory | None = memory
        self.token = memory.token
        self.placement = None if memory.placement is None else Placement.from_json(memory.placement)
        self._state = memory.state
        self._reports = HostReports(directory, self.journal, memory)
        self._deliveries = Deliveries(
            data, pool, self._reports, self._on_handed_over, memory.seqs, directory
        )
        self._deliveries.on_progress = DeliveryReport(self._sending, pool.clock.now).on_progress
        self._had = memory.hosts
        """The hosts that may have something of the job."""
        self._gone: set[str] = set()
        """The hosts of the placement that were lost while no pod ran there."""
        self._told: set[str] = set()
        self._waiting: WaitingRecord = {}
        self._loop = pool.loop_of(self)
        self._pods = GangPods(self, self._loop, self.journal, pool.clock)
        self._intake = Intake(self, self._pods, self._reports, self._deliveries, self._loop)
        self._supervisor = Supervisor(
            self.plan, self._loop, self.journal, pool.clock, self._pods, self._over
        )
        self._supervisor.before_parting = self._give_back

    @property
    def title(self) -> str:
        """How other clients of its hosts are told of it."""
        return f"job {self.plan.name}"

    @property
    def ended(self) -> bool:
        """Whether its last record is written."""
        return self._state is GangState.ENDED

    @property
    def is_new(self) -> bool:
        """Whether it has never begun."""
        return self._state is GangState.NEW

    @property
    def _is_leaving(self) -> bool:
        return self._state is GangState.LEAVING

    def _become(self, state: GangState) -> None:
        self._state = following(TRANSITIONS, self._state, state)

    @property
    def running_token(self) -> int:
        """The token of the pods that run."""
        return self.token - 1 if self._is_leaving else self.token

    @property
    def wants_place(self) -> bool:
        """Whether it could run if there was room for it."""
        shall_run = not self._supervisor.finished and not self._supervisor.suspended
        return self._state in WITHOUT_PLACE and shall_run

    def adopt(self) -> None:
        """Begin, or go on where an earlier pool agent stopped."""
        memory, self._memory = self._memory, None
        if memory is None or self.ended:
            return
        self.journal.append("agent", begun(is_new=memory.is_new))
        if memory.started:
            self._supervisor.start(memory.remembered)
            if self._is_leaving and self._supervisor.restarts < memory.restarts:
                self._supervisor.restart(HOST_LOST, "a host of the job was lost")
            self._loop.call_soon(self._check_left)
        elif self._supervisor.suspended or self.placement is not None:
            self._leave_new()
            self._supervisor.start()

    def _leave_new(self) -> None:
        """It has begun, with or without a place."""
        if self.is_new:
            self._become(GangState.PENDING)

    def waiting(self, reason: str, message: str, position: int) -> None:
        """Write why it does not run yet, if there is something new to say."""
        fields: WaitingRecord = {"reason": reason, "message": message, "position": position}
        if fields != self._waiting:
            self._waiting = fields
            self.journal.append("waiting", fields)

    def refuse(self, message: str, reason: str = "DoesNotFit") -> None:
        """End it, since it can never have a place."""
        self._leave_new()
        self._supervisor.refuse(reason, message)

    def displaced(self, message: str) -> None:
        """A host gave its place to somebody else while nothing of it ran there."""
        if any(not self._may_lack(pod) for pod in self._pods.waiting()):
            self.start_anew(message)

    def lose(self, message: str) -> None:
        """End it, since its hosts are gone and there are no others."""
        self._leave_new()
        self._supervisor.refuse(HOST_LOST, message)
        for name in sorted(self._hosts()):
            self._lose_pods(name, message)

    def place(self, placement: Placement) -> None:
        """Run there: the resources are its own from now on."""
        is_new = self.is_new
        self._become(GangState.PLACED)
        self.placement = placement
        self._gone = set()
        self._deliveries.begin_anew()
        self._intake.begin_anew()
        fields = placement.record(self.token)
        fields["logs"] = self._reports.begin_anew()
        self.journal.append("placement", fields, durable=True)
        self._had |= self._hosts()
        for host in sorted(self._had - self._hosts()):
            self._remove(host)
        for host in sorted(self._hosts()):
            self._deliveries.send(host, self.token)
        if is_new:
            self._supervisor.start()
        self.on_turn()

    def handle(self, request: Json, answer: Answer) -> None:
        """Cancel, suspend, resume, resize, or say how it is."""
        operation = request.get("op")
        if operation == "resume" and self.is_new:
            request = {**request, "op": "status"}  # it waits for a place already
        elif operation in ("cancel", "suspend", "resize"):
            self._leave_new()
        self._supervisor.handle(request, answer)
        if operation == "cancel":
            for name in sorted(self._hosts()):
                if not self._is_up(name):
                    self._lose_pods(
                        name, f"host {name} does not answer, and its processes are stopped later"
                    )
        self._check_left()
        self._pool.changed(self)

    def forget(self, answer: Answer) -> None:
        """End it without further ado, and let nothing of it stay on hosts."""
        if self.ended:
            answer({"ok": True})
        else:
            self.handle({"op": "cancel", "grace": 0}, answer)

    def fail(self, message: str) -> None:
        """End it after an error of our own."""
        if not self.ended:
            self._supervisor.fail(message)
            self._over()

    def close(self) -> None:
        """Let go of its files."""
        self.journal.close()
        self._directory.close()

    def on_host(self, name: str, state: str) -> None:
        """A host is up, after each new connection, or silent, or lost."""
        if self.ended:
            return
        if state == LOST:
            self._lost(name)
        elif state == SILENT and self._pods.on(name):
            message = self._pool.silence(name)
            self._supervisor.tell("Warning", "HostUnreachable", message)
            if self._supervisor.finished:
                self._lose_pods(name, message)
        elif state == UP:
            self._connected(name)

    def _lost(self, name: str) -> None:
        self._reports.forget_host(name)
        self._deliveries.drop(name)
        if name not in self._hosts():
            return
        self._gone.add(name)
        self._lose_host(name, f"host {name} was lost")

    def start_anew(self, message: str) -> None:
        """Leave the placement and run again elsewhere, for a reason that is not the job's own."""
        over = self._supervisor.finished or self._supervisor.suspended
        if self._state is not GangState.PLACED or self.placement is None or over:
            return
        self.token += 1
        self._become(GangState.LEAVING)
        self._supervisor.restart(HOST_LOST, message)
        fields = self.placement.record(self.token)
        fields["leaving"] = True
        fields["restarts"] = self._supervisor.restarts
        self.journal.append("placement", fields, durable=True)
        self._loop.call_soon(self._check_left)

    def _lose_pods(self, host: str, message: str) -> None:
        for pod in self._pods.on(host):
            pod.lose(HOST_LOST, message)
        self._intake.lost(host)

    def _check_left(self) -> None:
        """Give back what nothing runs on any more, and nothing shall."""
        self._shed()
        if self._state not in WITH_PLACE or self._pods.sent():
            return
        suspended = self._supervisor.suspended and not self._supervisor.finished
        if not self._is_leaving and not suspended:
            return
        self._give_back()
        if suspended:
            self.abandon()
        self._pool.changed(self)

    def _give_back(self) -> None:
        """Have no place any more; the next one has a higher token."""
        if self._state not in WITH_PLACE or self.placement is None:
            return
        self.token += not self._is_leaving
        self._become(GangState.PENDING)
        self.former, self.placement = self.placement.hosts, None
        nowhere: PlacementRecord = {"token": self.token, "hosts": {}}
        self.journal.append("placement", nowhere, durable=True)

    def _connected(self, name: str) -> None:
        """Bring a host that was just heard to what the job needs of it."""
        host = self._pool.host(name)
        facts: Json = host.facts if host is not None else {}
        known: Json | None = (facts.get("jobs") or {}).get(self.id)
        if name not in self._hosts():
            if known is not None:
                self.send(name, {"op": "fence", "id": self.id, "token": self.token})
        elif self._is_leaving and name in self._gone:
            self.send(name, {"op": "fence", "id": self.id, "token": self.token})
        elif known is not None and int(known.get("token") or 0) == self.running_token:
            self._gone.discard(name)
            if not self._is_leaving:
                self._deliveries.repeat(name, self.token)
            self.ask_for_rest(name)
            self._resend(name)
            self._intake.connected(name, int(known.get("seq") or 0))
        elif self._is_leaving or any(pod.seen for pod in self._pods.on(name)):
            # It has forgotten the job, or stopped it as one of an earlier attempt.
            self._lose_host(name, f"host {name} lost the job")
        else:
            self._gone.discard(name)
            if known is not None:
                self.send(name, {"op": "fence", "id": self.id, "token": self.token})
            self._deliveries.send(name, self.token)

    def _resend(self, name: str) -> None:
        for pod in self._pods.on(name):
            if not pod.seen and self._deliveries.is_served(name):
                self._send_start(pod)
            self._pods.repeat(pod)

    def ask_for_rest(self, name: str) -> None:
        """Have a host of the placement send what is missing here."""
        if self.placement is None or self.ended:
            return
        placed = self.placement.hosts
        pods = self._pods.keys_on(name) | {key for key in placed if placed[key] == name}
        rest = self._reports.rest(name, pods, with_output=not self._keeps_output)
        self.send(name, {"op": "resume", "id": self.id, **rest})

    def _sending(self, message: str) -> None:
        self._supervisor.tell("Normal", "SendingFiles", message)

    def _on_handed_over(self, name: str) -> None:
        """The job is on its way to a host: its pods may follow."""
        self._resend(name)
        self.on_turn()

    def _remove(self, name: str) -> None:
        frame: Remove = {"op": "remove", "id": self.id}
        if self._keeps_output:
            frame["keep"] = True
        self._reports.forget_host(name)
        self.send(name, frame)

    def on_frame(self, host: str, frame: Json) -> None:
        """A host said something about the job."""
        event = frame.get("event")
        if event == "fenced":
            if self.ended or host not in self._hosts():
                self._remove(host)
        elif event == "removed":
            self._had -= {host} - self._hosts()
        elif not self.ended and host in self._hosts() and host not in self._gone:
            self._intake.take(host, frame)

    def on_turn(self) -> None:
        """Send off all pods whose turn and place have come."""
        if self.placement is None or self._state is not GangState.PLACED:
            return
        for pod in self._pods.waiting():
            place = self._pods.place_of(pod)
            host = self.placement.hosts.get(place, "")
            if not host and self._may_lack(pod):
                self._pool.changed(self)
                continue
            if host in self._gone or not host:
                self.start_anew(f"host {host} was lost")
                return
            if self._may_start(host):
                pod.sent_to(host, place)
                self._send_start(pod)

    def _send_start(self, pod: RemotePod) -> None:
        if self.placement is not None and not self._is_leaving:
            self.send(pod.host, start_frame(pod, self.placement, self.token, self._pool.host))

    def on_pod_over(self) -> None:
        """A pod has ended: maybe the last one of a placement that is to be left."""
        self._loop.call_soon(self._check_left)

    def abandon(self) -> None:
        """Have all hosts clear the job away."""
        for name in sorted(self._had):
            self._remove(name)

    def _over(self) -> None:
        """The last record is written, or another agent goes on with the job."""
        if not self._supervisor.left:
            self._deliveries.clear()
        if not self.journal.flush():
            self._loop.call_later(FLUSH_SECONDS, self._over)
            return
        self.abandon()
        self._become(GangState.ENDED)
        self.placement = None
        self._pool.changed(self)

    def send(self, host: str, frame: HostRequest) -> bool:
        """Say something to a host; where it is not there, it is said again when it comes."""
        return self._pool.send(host, frame)

    def _hosts(self) -> set[str]:
        return set() if self.placement is None else set(self.placement.hosts.values())

    def _is_up(self, name: str) -> bool:
        return (host := self._pool.host(name)) is not None and host.state == UP

    def tell_once(self, reason: str, message: str) -> None:
        """Write a warning, unless there was one with that reason."""
        if reason not in self._told:
            self._told.add(reason)
            self._supervisor.tell("Warning", reason, message)
