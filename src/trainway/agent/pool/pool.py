"""The pool: jobs come in, wait for their places on the hosts, and are told what hosts say of them.

An error in one job ends that job and nothing else. Whatever changes what is free lets the queue
move at once. What must outlive this process is in `state`, and in the journals of the jobs.
"""

from __future__ import annotations

import json
import os
import traceback
from zlib import crc32

from trainway.agent.base.clock import rfc3339
from trainway.agent.base.directory import Directory
from trainway.agent.host.facts import user
from trainway.agent.pool.attendance import Attendance
from trainway.agent.pool.clusters import Clusters
from trainway.agent.pool.drains import Drains, is_last
from trainway.agent.pool.gang import Gang
from trainway.agent.pool.growth import Growth
from trainway.agent.pool.guarded_loop import GuardedLoop
from trainway.agent.pool.hosts import Hosts, HostsListener
from trainway.agent.pool.job_order import order_at, order_of
from trainway.agent.pool.lease import LOST, UP
from trainway.agent.pool.ledger import Ledger
from trainway.agent.pool.lending import Lending
from trainway.agent.pool.reservations import HELD
from trainway.agent.pool.scheduler import Scheduler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from trainway.agent.base.clock import Clock
    from trainway.agent.base.event_loop import EventLoop, Timetable
    from trainway.agent.base.journal import Journal
    from trainway.agent.pool.allocation import AllocationHolder
    from trainway.agent.pool.hosts import Host
    from trainway.agent.pool.socket import PoolSocket
    from trainway.agent.pool.state import State
    from trainway.agent.pool.state_records import JobState, StateRecord
    from trainway.agent.supervisor.answers import PoolAnswer
    from trainway.agent.transfer.frames import HostRequest
    from trainway.agent.transfer.link import Archive
    from trainway.json_types import Json


class Pool(HostsListener):
    """All jobs on all hosts."""

    def __init__(
        self, state: State, loop: EventLoop, clock: Clock, archive: Callable[[], Archive]
    ) -> None:
        self.loop = loop
        self.clock = clock
        self.owner = state.owner
        self.socket: PoolSocket | None = None
        self._state = state
        self._environ: dict[str, str] = {}
        self._gangs: dict[str, Gang] = {}
        self._ledger = Ledger()
        self._is_scheduled = False
        self.archive = archive
        self.jitter = (crc32(state.owner.encode()) % 1000) / 1000
        """How much longer we wait than other clients, in seconds, lest two always clash again."""
        self._hosts = Hosts(loop, self, state.owner, archive, self.environ, log=self.log)
        self._hosts.drained = state.drained
        self.drains = Drains(state, loop, self.log, self.schedule)
        self._hosts.client = f"{user()}@{os.uname().nodename}"
        self._scheduler = Scheduler(self, self._hosts, self._ledger)
        self.clusters = Clusters(self, self._slurm)
        self.attendance = Attendance(self)
        self.lending = Lending(self)

    def _slurm(self, clusters: Clusters) -> AllocationHolder:
        """Who asks Slurm for allocations."""
        from trainway.agent.pool.holding.hold import Holder  # noqa: PLC0415 - as few need it

        return Holder(self, clusters)

    def start(self) -> None:
        """Go on where an earlier pool agent left off."""
        for record in list(self._state.clusters.values()):
            self.clusters.restore(record)
        for record in sorted(self._state.jobs.values(), key=lambda record: int(record["order"])):
            self._adopt(record)
        self.clusters.begin()
        self._hosts.configure(self._state.hosts, self._hosts_in_use())
        self.drains.look()
        self.attendance.look()
        self.schedule()

    def _adopt(self, record: Json) -> None:
        id_, path = str(record["id"]), str(record["directory"])
        try:
            directory, data = _opened(path)
            gang = Gang(self, directory, data, int(record["order"]))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, the others go on
            self.log(f"{id_} cannot be taken over: {error}")
            self._state.append({"type": "over", "id": id_})
            return
        if gang.ended:
            self._state.append({"type": "over", "id": id_})
            gang.close()
            return
        self._begin(gang)

    def _begin(self, gang: Gang) -> None:
        self._gangs[gang.id] = gang
        self.guarded(gang, gang.adopt)
        if gang.placement is not None and not gang.queue:
            self._ledger.hold(gang.id, gang.demand, gang.placement)
            self._scheduler.reservations.know(gang, gang.placement)

    @property
    def is_attended(self) -> bool:
        """Whether a server listens to us."""
        return self.socket is not None and self.socket.clients > 0

    @property
    def is_idle(self) -> bool:
        """Whether there is no job, no cluster and no client."""
        return not self._gangs and not self.clusters.busy and not self.is_attended

    def close(self) -> None:
        """Leave; what runs on the hosts runs on."""
        self._hosts.close()
        self.clusters.close()
        for gang in self._gangs.values():
            self.guarded(gang, gang.close)

    def log(self, text: str) -> None:
        """Write a line into the agent's log."""
        os.write(2, f"{rfc3339(self.clock.now())} {text}\n".encode("utf-8", "replace"))

    def environ(self) -> Mapping[str, str]:
        """The variables of programs that lead to hosts."""
        return {**os.environ, **self._environ}

    # For jobs and clusters.

    def send(self, host: str, frame: HostRequest) -> bool:
        """Say something to a host; False where it is not there, so that it must be said again."""
        found = self._hosts.get(host)
        return found is not None and found.send(frame)

    def backlog(self, host: str) -> int:
        """How many bytes for a host have yet to be written."""
        found = self._hosts.get(host)
        return 0 if found is None else found.link.backlog

    def when_room(self, host: str, callback: Callable[[], object]) -> None:
        """Call back once when more can be said to a host; never, if its connection ends before."""
        found = self._hosts.get(host)
        if found is not None:
            found.link.when_room(callback)

    def loop_of(self, gang: Gang) -> Timetable:
        """The loop for a job: what goes wrong there ends that job."""
        return GuardedLoop(self.loop, lambda callback: self.guarded(gang, callback))

    def host(self, name: str) -> Host | None:
        """The host of that name."""
        return self._hosts.get(name)

    def hosts(self) -> list[Host]:
        """All hosts."""
        return self._hosts.all()

    def gangs(self) -> Iterable[Gang]:
        """All jobs that are not over."""
        return list(self._gangs.values())

    def next_order(self) -> int:
        """The number of whoever comes next; it can be compared with those that ids give."""
        self._state.order = max(self._state.order + 1, order_at(self.clock.now()))
        return self._state.order

    def remember(self, record: StateRecord) -> None:
        """Leave something to the next pool agent."""
        self._state.append(record)

    def changed(self, gang: Gang) -> None:
        """A job was placed, gave up its places, waits for new ones, or ended."""
        if gang.placement is None:
            self._ledger.release(gang.id)
        if gang.ended:
            self.loop.call_soon(lambda: self._drop(gang))
        elif gang.queue:
            self.clusters.on_job(gang)
        self.schedule()

    def silence(self, name: str) -> str:
        """What is to be said of a host that does not answer."""
        said = f"host {name} does not answer"
        if self._hosts.are_most_heard:
            return said
        why = "nothing starts elsewhere until most of them answer: this machine may be cut off"
        return f"{said}, nor do most hosts of the pool; {why}"

    def is_last(self, name: str) -> bool:
        """Whether no job would have a host if this one were set aside."""
        return is_last(name, self.hosts())

    def set_aside(self, name: str, why: str, by: str) -> None:
        """Let a host take no new pods until somebody has mended it."""
        if self.drains.set(name, {"why": why, "by": by}):
            self.log(f"{name} is set aside: {why}")

    def resized(self, gang: Gang) -> None:
        """An elastic job has more or fewer places."""
        if gang.placement is not None:
            self._ledger.hold(gang.id, gang.demand, gang.placement)
            self._scheduler.reservations.resize(gang, gang.placement)
        self.schedule()

    def schedule(self) -> None:
        """Let the queue move, in the next turn of the loop."""
        if not self._is_scheduled:
            self._is_scheduled = True
            self.loop.call_soon(self._schedule)

    # By hosts.

    def on_host(self, host: Host, state: str) -> None:
        """A host came or went."""
        if state == UP:
            self._remove_strangers(host)
            self.attendance.tell()
            self.lending.give(host)
            self._scheduler.reservations.connected(host.name)
        elif state == LOST:
            self._scheduler.reservations.lost(host.name)
        else:
            self._scheduler.reservations.look()
        for gang in list(self._gangs.values()):
            self.guarded(gang, gang.on_host, host.name, state)
        self.clusters.on_host()
        self.schedule()

    def on_job_frame(self, host: Host, frame: Json) -> None:
        """A host said something about a job."""
        if frame.get("event") == HELD:
            self._scheduler.reservations.answered(host.name, frame)
            return
        gang = self._gangs.get(str(frame["id"]))
        if gang is not None:
            self.guarded(gang, gang.on_frame, host.name, frame)

    def on_capacity(self, host: Host) -> None:
        """It is known what a host has."""
        self._ledger.set_capacity(host.name, None if host.retired else host.capacity())
        self._ledger.set_others(host.name, host.facts.get("holdings") or [])
        self.schedule()

    def on_notice(self, host: Host) -> None:
        """Whoever watches the clusters is told; what follows is for the server to say."""
        self.log(f"{host.name}: its cloud says: {host.notice}")
        self.clusters.on_host()

    def on_failure(self, _host: Host) -> None:
        """Those who wait shall know why a host is not there."""
        self.schedule()

    def _remove_strangers(self, host: Host) -> None:
        """Have a host remove the jobs that ended while it was away."""
        for id_ in host.facts.get("jobs") or {}:
            gang = self._gangs.get(id_)
            if gang is None or gang.ended:
                host.send({"op": "remove", "id": id_})

    def _hosts_in_use(self) -> set[str]:
        placements = [gang.placement for gang in self._gangs.values()]
        placements += [item.placement for item in self.clusters.allocations()]
        return {name for item in placements if item is not None for name in item.hosts.values()}

    def _schedule(self) -> None:
        self._is_scheduled = False
        self.clusters.look()
        gangs = [gang for gang in self._gangs.values() if gang.wants_place]
        growths = [Growth(gang, item) for gang in self._gangs.values() for item in gang.lacking()]
        self._scheduler.turn(
            [*(gang for gang in gangs if not gang.queue), *growths], self.clusters.allocations()
        )
        of_clusters = [gang for gang in gangs if gang.queue]
        if of_clusters:
            self.clusters.schedule(of_clusters)
        if any(host.retired for host in self._hosts.all()):
            self._hosts.let_go(self._hosts_in_use())

    # For clients.

    def gang(self, id_: str) -> Gang | None:
        """A job that is not over."""
        return self._gangs.get(id_)

    def journal_of(self, id_: str) -> Journal | None:
        """The journal of a job that is not over."""
        gang = self._gangs.get(id_)
        return None if gang is None else gang.journal

    def configure(self, hosts: list[Json], environ: Mapping[str, str]) -> None:
        """Have these hosts from now on, and reach them with these variables."""
        self._environ = dict(environ)
        self.have_hosts(hosts)

    def have_hosts(self, hosts: list[Json]) -> None:
        """Have these hosts from now on."""
        if hosts != self._state.hosts:
            self._state.append({"type": "hosts", "hosts": hosts})
        self._hosts.configure(hosts, self._hosts_in_use())
        for host in self._hosts.all():
            if host.retired or host.facts:
                self.on_capacity(host)
        self.schedule()

    def submit(self, path: str) -> None:
        """Take a job, unless it is known; PlanError and others where it cannot be run."""
        directory, data = _opened(path)
        if str(data["id"]) in self._gangs:
            directory.close()
            return
        for host in self._hosts.all():
            host.try_again()
        order = order_of(str(data["id"]))
        gang = Gang(self, directory, data, self.next_order() if order is None else order)
        if gang.ended:
            gang.close()
            return
        record: JobState = {"type": "job", "id": gang.id, "directory": path, "order": gang.order}
        self._state.append(record)
        self._begin(gang)
        if gang.queue:
            self.clusters.on_job(gang)
        self.schedule()

    def status(self) -> PoolAnswer:
        """What there is to know of the pool."""
        waiting = [gang for gang in self._gangs.values() if gang.wants_place]
        waiting.sort(key=lambda gang: (-gang.priority, gang.order))
        return {
            "ok": True,
            "pid": os.getpid(),
            "owner": self.owner,
            "hosts": [self._scheduler.host_status(host) for host in self._hosts.all()],
            "jobs": list(self._gangs),
            "queue": [gang.id for gang in waiting],
            "clusters": self.clusters.status(),
        }

    # Errors and ends.

    def guarded(self, gang: Any, call: Callable[..., object], *arguments: object) -> str:
        """Call into a job; an error ends that job, and is given back."""
        try:
            call(*arguments)
        except Exception as error:  # noqa: BLE001 - an error of one job must not end the others
            self.log(f"{gang.id}: {traceback.format_exc()}")
            message = f"the agent failed: {error!r}"
            self._fail(gang, message)
            return message
        return ""

    def _fail(self, gang: Any, message: str) -> None:
        try:
            gang.fail(message)
        except Exception:  # noqa: BLE001 - then it cannot even be ended properly
            self.log(f"{gang.id}: {traceback.format_exc()}")
            self.loop.call_soon(lambda: self._drop(gang))

    def _drop(self, gang: Gang) -> None:
        """Forget a job that is over."""
        if self._gangs.get(gang.id) is not gang:
            return
        del self._gangs[gang.id]
        self._ledger.release(gang.id)
        self._state.append({"type": "over", "id": gang.id}, durable=False)
        if gang.queue:
            self.clusters.on_job(gang)
        if self.socket is None:
            self.guarded(gang, gang.close)
        else:
            self.socket.finish(gang.journal, lambda: self.guarded(gang, gang.close))
        self.schedule()


def _opened(path: str) -> tuple[Directory, Json]:
    """A job's directory, and the plan in it."""
    directory = Directory(path)
    try:
        return directory, json.loads(directory.read("plan.json"))
    except BaseException:
        os.close(directory.fd)
        raise
