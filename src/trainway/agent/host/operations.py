"""What a pool agent may ask for: one method for each `op`."""

from __future__ import annotations

import os

from trainway.agent.base.plan import PlanError
from trainway.agent.host import cluster_directory
from trainway.agent.host.facts import addresses
from trainway.agent.host.holdings import Holdings
from trainway.agent.host.hosted_job import RefusedError
from trainway.agent.host.owner import Owner
from trainway.agent.host.shared_holdings import LockedError
from trainway.agent.transfer.blobs import BlobError
from trainway.agent.transfer.feed import Position
from trainway.agent.transfer.frame_faults import fault_of
from trainway.agent.transfer.restored import RestoredError, restore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.host.holdings import Holding
    from trainway.agent.host.hosted_job import HostedJob
    from trainway.agent.host.machine import Machine
    from trainway.agent.host.registry import JobRegistry
    from trainway.agent.host.shared_holdings import SharedHoldings
    from trainway.agent.transfer.blobs import Blobs
    from trainway.agent.transfer.connection import Connection
    from trainway.agent.transfer.frames import (
        Arrived,
        Attend,
        Echo,
        Fence,
        ForgetCluster,
        HaveBlobs,
        Hold,
        Lend,
        LetGo,
        Release,
        Remove,
        StopPod,
        WatchNotices,
    )
    from trainway.agent.transfer.host_events import (
        Echoed,
        Fenced,
        Held,
        JobTaken,
        MissingBlobs,
        OthersHoldings,
        Pong,
        Refusal,
        Removed,
    )
    from trainway.json_types import Json


REFUSALS = (RefusedError, BlobError, RestoredError, PlanError)
ERRORS = (*REFUSALS, KeyError, TypeError, ValueError, AttributeError, OSError)
LOOK_SECONDS = 1.0
"""How often is looked at what the agents of other users give away, while a client is here."""
LOCKED_SECONDS = 1.0
"""How long the agent of another user may take to give a place away."""
ASK_AGAIN_SECONDS = 0.02


class Operations:
    """Carries out what connections ask for."""

    def __init__(
        self,
        machine: Machine,
        registry: JobRegistry,
        blobs: Blobs,
        facts: Json,
        shared: SharedHoldings | None = None,
    ) -> None:
        self._machine = machine
        self._registry = registry
        self._blobs = blobs
        self._facts = facts
        self._owners: dict[str, Owner] = {}
        self.on_pod: Callable[[], None] = lambda: None
        """Called when a pod changed."""
        self.on_attend: Callable[[Attend], None] = lambda _frame: None
        """Called when a server says that it is there."""
        self.on_lend: Callable[[Lend], None] = lambda _frame: None
        """Called when a server gives jobs credentials."""
        self.on_watch_notices: Callable[[WatchNotices], None] = lambda _frame: None
        """Called when somebody wants to know when the cloud takes this machine."""
        self._waiting_jobs: dict[str, Connection] = {}
        self._holdings = Holdings(machine.home, machine.clock.now, shared, self._processes)
        self._asking: dict[tuple[str, str], Hold] = {}
        """Who waits until the agent of another user has given a place away."""
        self._looking = False
        self._publishing = False
        registry.on_job = self._adopt
        registry.failed = self._on_failed

    def handle(self, connection: Connection, frame: Json) -> None:
        """Do what a frame asks for; what cannot be done is answered with an error."""
        operation = str(frame.get("op") or "")
        owner = self._owners.get(connection.owner)
        if owner is not None:
            owner.lease.heard(self._machine.clock.now())
        if operation == "ping":
            pong: Pong = {"event": "pong"}
            connection.answer(pong)
            return
        method = getattr(self, f"_op_{operation}", None)
        if method is None or (owner is None and operation not in ("hello", "arrived")):
            message = f"no such operation: {operation}" if owner else "say hello first"
            self._refuse(connection, frame, message)
            return

        def action() -> None:
            self._attempt(connection, frame, method)

        if frame.get("id"):
            self._registry.in_turn(str(frame["id"]), action)
        else:
            action()

    def _attempt(
        self, connection: Connection, frame: Json, method: Callable[[Connection, Json], None]
    ) -> None:
        if connection.closed:
            return  # the next connection asks again
        try:
            method(connection, frame)
        except ERRORS as error:
            self._refuse(connection, frame, fault_of(error))

    def _refuse(self, connection: Connection, frame: Json, message: str) -> None:
        operation = str(frame.get("op") or "")
        identity = frame.get("id")
        if operation == "job":
            refused: JobTaken = {"event": "job", "id": identity, "ok": False, "error": message}
            connection.answer(refused)
            return
        error: Refusal = {"event": "error", "op": operation, "id": identity, "message": message}
        uid = frame.get("uid") or (frame.get("pod") or {}).get("uid")
        if uid:
            error["uid"] = uid
        connection.answer(error)

    def closed(self, connection: Connection) -> None:
        """A connection is gone."""
        self._blobs.forget(connection.name)
        owner = self._owners.get(connection.owner)
        if owner is not None:
            owner.lost(connection)

    def _adopt(self, job: HostedJob) -> None:
        owner = self._owner(job.owner)
        job.on_news = owner.wake
        job.on_pod = self._on_pod

    def _on_pod(self) -> None:
        self.on_pod()
        if not self._publishing:
            self._publishing = True
            self._machine.loop.call_soon(self._publish)

    def _publish(self) -> None:
        self._publishing = False
        self._holdings.publish()

    def _owner(self, identity: str) -> Owner:
        if identity not in self._owners:
            self._owners[identity] = Owner(identity, self._machine, self._registry.of)
        return self._owners[identity]

    def _op_arrived(self, connection: Connection, frame: Arrived) -> None:
        """Said by `connect` itself, before it relays: how this host was reached."""
        connection.reached = {key: frame[key] for key in ("sshd", "host_keys") if key in frame}

    def _op_hello(self, connection: Connection, frame: Json) -> None:
        connection.owner = str(frame["owner"])
        owner = self._owner(connection.owner)
        owner.hello(connection, frame)
        jobs = {
            job.id: {"token": job.token, "seq": job.journal.last}
            for job in self._registry.of(owner.id)
        }
        self._holdings.look()
        held = owner.told_holdings = self._holdings.others(owner.id)
        now = {"addresses": addresses(), "jobs": jobs, "holdings": held}
        connection.answer({"event": "facts", **self._facts, **connection.reached, **now})
        self._look_later()

    def _op_hold(self, connection: Connection, frame: Hold) -> None:
        """Give a job or a cluster its place, unless somebody else has it."""
        self._asking[connection.owner, str(frame["id"])] = frame
        self._give(connection, frame, self._machine.clock.now() + LOCKED_SECONDS)

    def _give(self, connection: Connection, frame: Hold, give_up: float) -> None:
        who = connection.owner, str(frame["id"])
        if self._asking.get(who) is not frame:
            return  # it was given back, or asked for anew
        client = self._owner(connection.owner).client
        data = {**frame, "key": frame["id"], "owner": connection.owner, "client": client}
        limits, insist = frame.get("limits") or {}, bool(frame.get("insist"))
        try:
            why = self._holdings.hold(data, limits, insist=insist)
        except LockedError as error:
            if self._machine.clock.now() < give_up:
                self._give_later(connection, frame, give_up)
                return
            why = str(error)
        del self._asking[who]
        answer: Held = {"event": "held", "id": frame["id"], "ok": not why}
        if why:
            answer["error"] = why
        connection.answer(answer)
        self._tell_holdings()

    def _give_later(self, connection: Connection, frame: Hold, give_up: float) -> None:
        def method(to: Connection, _frame: Json) -> None:
            self._give(to, frame, give_up)

        def again() -> None:
            self._attempt(connection, {**frame}, method)

        self._machine.loop.call_later(ASK_AGAIN_SECONDS, again)

    def _op_release(self, connection: Connection, frame: Release) -> None:
        self._release(connection.owner, str(frame["id"]))

    def _release(self, owner: str, key: str) -> None:
        self._asking.pop((owner, key), None)
        if self._holdings.release(owner, key):
            self._tell_holdings()

    def expire_holdings(self) -> None:
        """Let go of the places of those who are gone."""
        if self._holdings.expire(self._is_needed):
            self._tell_holdings()

    def close(self) -> None:
        """The daemon ends: nothing is held through it any more."""
        self._holdings.close()

    def _look_later(self) -> None:
        """Look what is held through other agents, as long as there is somebody to tell."""
        if not self._looking and any(owner.connection for owner in self._owners.values()):
            self._looking = True
            self._machine.loop.call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        self._looking = False
        self._look_later()
        self._holdings.look()
        self._tell_holdings()

    def _is_needed(self, holding: Holding) -> bool:
        owner = self._owners.get(holding.owner)
        if owner is not None and owner.connection is not None:
            return True
        return any(job.live for job in self._jobs(holding))

    def _jobs(self, holding: Holding) -> list[HostedJob]:
        """The jobs that use what is held."""
        jobs = self._registry.of(holding.owner)
        return [job for job in jobs if holding.is_cluster or job.id == holding.key]

    def _processes(self, holding: Holding) -> list[int]:
        """The containers that use what is held."""
        pods = [pod for job in self._jobs(holding) for pod in job.live]
        return [pid for pod in pods for pid in self._machine.processes.of_pod(pod.identity.uid)]

    def _tell_holdings(self) -> None:
        """Let every client know what the others have."""
        for owner in self._owners.values():
            if owner.connection is not None:
                others = self._holdings.others(owner.id)
                if others != owner.told_holdings:
                    owner.told_holdings = others
                    told: OthersHoldings = {"event": "holdings", "others": others}
                    owner.connection.answer(told)

    def _op_forget_cluster(self, _connection: Connection, frame: ForgetCluster) -> None:
        """Remove the working directory of a cluster that is gone."""
        cluster = str(frame["cluster"])
        if cluster_directory.is_cluster(cluster):
            home = self._machine.home
            folders = cluster_directory.folders(home, cluster, os.path.expanduser("~"))
            self._machine.discard(folders)

    def _op_attend(self, _connection: Connection, frame: Attend) -> None:
        """Take note that a server is there."""
        self.on_attend(frame)

    def _op_lend(self, _connection: Connection, frame: Lend) -> None:
        """Let jobs use credentials."""
        self.on_lend(frame)

    def _op_watch_notices(self, _connection: Connection, frame: WatchNotices) -> None:
        """Ask the cloud whether it is about to take this machine."""
        self.on_watch_notices(frame)

    def _op_echo(self, connection: Connection, frame: Echo) -> None:
        """Say that this host is there, on behalf of a job."""
        answer: Echoed = {"event": "echo", "id": frame["id"]}
        connection.answer(answer)

    def _op_have(self, connection: Connection, frame: HaveBlobs) -> None:
        missing = self._blobs.missing(str(name) for name in frame["blobs"])
        answer: MissingBlobs = {"event": "missing", "blobs": missing}
        if "id" in frame:
            answer["id"] = frame["id"]
        connection.answer(answer)

    def _op_blob(self, connection: Connection, frame: Json) -> None:
        self._blobs.receive(str(frame["sha256"]), connection.name, frame)

    def _op_job(self, connection: Connection, frame: Json) -> None:
        identity = str(frame["id"])
        self._waiting_jobs[identity] = connection

        def done() -> None:
            self._waiting_jobs.pop(identity, None)
            job = self._registry.find(identity, connection.owner)
            if job.feed is None and job.journal.last < 0 and not connection.closed:
                job.follow(Position({}))
            answer: JobTaken = {"event": "job", "id": identity, "ok": True}
            connection.answer(answer)

        self._registry.submit(frame, connection.owner, done)

    def _on_failed(self, identity: str, message: str) -> None:
        connection = self._waiting_jobs.pop(identity, None)
        if connection is not None:
            self._refuse(connection, {"op": "job", "id": identity}, message)

    def _op_start(self, connection: Connection, frame: Json) -> None:
        job = self._registry.find(str(frame["id"]), connection.owner)
        owner = self._owner(connection.owner)
        if owner.lease.expired:
            raise RefusedError("this host was cut off from its pool: say hello first")
        self._registry.set_peers(job.id, frame)
        job.start(frame)
        owner.watch_over()

    def _op_stop(self, connection: Connection, frame: StopPod) -> None:
        job = self._registry.find(str(frame["id"]), connection.owner)
        job.stop(str(frame["uid"]), str(frame.get("how") or "delete"))

    def _op_go(self, connection: Connection, frame: LetGo) -> None:
        self._registry.find(str(frame["id"]), connection.owner).let_go(str(frame["uid"]))

    def _op_fence(self, connection: Connection, frame: Fence) -> None:
        identity, token = str(frame["id"]), int(frame["token"])
        answer: Fenced = {"event": "fenced", "id": identity, "token": token}
        self._registry.fence(identity, token, connection.owner, lambda: connection.answer(answer))

    def _op_resume(self, connection: Connection, frame: Json) -> None:
        self._registry.find(str(frame["id"]), connection.owner).follow(Position(frame))

    def _op_put(self, connection: Connection, frame: Json) -> None:
        job = self._registry.find(str(frame["id"]), connection.owner)
        version = restore(job.directory, frame)
        if version is not None:
            job.restored(str(frame["path"]), version)

    def _op_remove(self, connection: Connection, frame: Remove) -> None:
        identity = str(frame["id"])
        self._release(connection.owner, identity)
        answer: Removed = {"event": "removed", "id": identity}
        self._registry.remove(
            identity,
            connection.owner,
            keep_output=bool(frame.get("keep")),
            done=lambda: connection.answer(answer),
        )
