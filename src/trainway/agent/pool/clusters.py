"""The clusters of a pool: what each holds, the queue of its jobs, and its stop when it is idle.

The pool agent keeps them, so that they go on without a server. A cluster's jobs run in the order
in which they came, as many at once as fit on its nodes; the first that does not fit holds back all
behind it. A job that would not fit on the empty cluster holds back nobody.

    {"op": "allocate", "cluster": {"name", "id", "nodes", "cpus", "memory", "gpus", "autostop",
                                   "given", "slurm"?}}
                                  answered at once, or when Slurm has it; the nodes may come later
    {"op": "release", "cluster": NAME, "stop": bool, "purge"?: bool, "message"?: WHY}
                                  answered when none of its jobs runs any more, or with why not;
                                  with `purge` it is given back as soon as that is possible
    {"op": "start", "cluster": NAME, "placement"?}      with it, these are its nodes
    {"op": "autostop", "cluster": NAME, "minutes": number or null, "down": bool}
    {"op": "clusters"}                                  all of them, now and after every change
"""

from __future__ import annotations

from trainway.agent.controllers.gang_queue import QUEUED, in_order
from trainway.agent.pool import autostop, cluster_queue
from trainway.agent.pool.allocation import Allocation, fill, on_hosts, on_nodes
from trainway.agent.pool.allocation_state import AllocationState
from trainway.agent.pool.cluster_nodes import nodes, unusable
from trainway.agent.pool.placement import Placement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from trainway.agent.base.event_loop import Timer
    from trainway.agent.pool.allocation import AllocationHolder
    from trainway.agent.supervisor.answers import (
        ClusterAnswer,
        ClustersAnswer,
        ClusterState,
    )
    from trainway.agent.supervisor.control import Answer
    from trainway.json_types import Json


OPERATIONS = ("allocate", "release", "start", "autostop", "clusters")
STOP, DOWN = "stop", "down"
AGAIN_SECONDS = 60.0
"""When an idle cluster that could not be given back is tried again."""


class Clusters:
    """All clusters of a pool. `pool` is the agent; see `pool.py` for what it offers."""

    def __init__(self, pool: Any, holder: Callable[[Clusters], AllocationHolder]) -> None:
        """`holder` is called when there is a cluster on Slurm: most pools have none."""
        self._pool = pool
        self._make_holder = holder
        self._clusters: dict[str, Allocation] = {}
        self._seats: dict[str, Placement] = {}
        """The nodes of each running job."""
        self._timers: dict[str, Timer] = {}
        self._watchers: list[Answer] = []
        self._made_holder: AllocationHolder | None = None

    @property
    def _holder(self) -> AllocationHolder:
        if self._made_holder is None:
            self._made_holder = self._make_holder(self)
        return self._made_holder

    def restore(self, record: Json) -> None:
        """Take up what an earlier agent remembered."""
        data = record["cluster"]
        if record.get("gone"):
            self._clusters.pop(str(data["name"]), None)
            return
        found = Allocation(data, int(data.get("order") or 0))
        found.keep()
        self._add(found)

    def _add(self, allocation: Allocation) -> None:
        allocation.on_place, allocation.on_wait = self.placed, self.wait
        self._clusters[allocation.name] = allocation

    def begin(self) -> None:
        """Go on where an earlier agent left off, once all is restored."""
        for allocation in list(self._clusters.values()):
            ending = allocation.slurm.get("ending")
            if ending == DOWN:
                self._insist(allocation)
            elif ending:
                self._release(allocation, stop=True, answer=lambda _answer: None)
            elif allocation.slurm and allocation.is_held:
                self._holder.go_on(allocation)
            self._look(allocation)

    def close(self) -> None:
        """Leave them all as they are."""
        if self._made_holder is not None:
            self._made_holder.close()

    @property
    def busy(self) -> bool:
        """Whether a cluster has its nodes or waits for them."""
        return any(allocation.is_held for allocation in self._clusters.values())

    def allocations(self) -> list[Allocation]:
        """Those that stand in the pool's own queue, or hold a part of it."""
        return [allocation for allocation in self._clusters.values() if allocation.is_held]

    def status(self) -> list[ClusterState]:
        """What there is to know of each."""
        return [self._view(allocation) for allocation in self._clusters.values()]

    def handle(self, request: Json, answer: Answer) -> None:
        """Carry out a request."""
        operation = request.get("op")
        if operation == "clusters":
            self._watchers.append(answer)
            answer({"ok": True, "clusters": self.status()})
        elif operation == "allocate":
            self._allocate(request["cluster"], answer)
        else:
            name = str(request.get("cluster"))
            allocation = self._clusters.get(name)
            if allocation is None:
                answer({"ok": False, "code": "not_found", "error": f"there is no cluster {name}"})
            elif operation == "release":
                stop, insist = bool(request.get("stop")), bool(request.get("purge"))
                allocation.reason = str(request.get("message") or "")
                self._release(allocation, stop=stop, answer=answer, insist=insist)
            elif operation == "start":
                self._start(allocation, request, answer)
            else:
                allocation.autostop = autostop.read(request)
                self._changed(allocation)
                self._pool.attendance.tell()
                self._look(allocation)
                answer(self._answer(allocation))

    def _allocate(self, data: Json, answer: Answer) -> None:
        known = self._clusters.get(str(data["name"]))
        if known is not None and known.uid != str(data.get("id") or ""):
            is_going = "ending" in known.slurm
            why = f", which has not been released yet: {known.message}" if is_going else " already"
            answer({"ok": False, "error": f"there is a cluster {known.name}{why}"})
            return
        if known is None:
            known = Allocation(data, self._pool.next_order())
            self._add(known)
            self._changed(known)
            self._look(known)
            self._pool.schedule()
            if known.slurm:
                self._holder.begin(known, lambda told: self._on_asked(known, told, answer))
                return
        answer(self._answer(known))

    def _on_asked(self, allocation: Allocation, told: Json, answer: Answer) -> None:
        """Slurm has the job of a new cluster, or does not want it: then there is no cluster."""
        if told["ok"]:
            answer(self._answer(allocation))
        else:
            self._forget(allocation)
            answer(told)

    def _start(self, allocation: Allocation, request: Json, answer: Answer) -> None:
        waits = allocation.state is AllocationState.INIT and not allocation.slurm
        if waits or not allocation.is_held:
            given = request.get("placement")
            allocation.start(Placement.from_json(given) if given else None)
            self._changed(allocation)
            self._pool.attendance.tell()
            self._look(allocation)
            self._pool.schedule()
            if allocation.slurm:
                self._holder.begin(
                    allocation,
                    lambda told: answer(self._answer(allocation) if told["ok"] else told),
                )
                return
        answer(self._answer(allocation))

    def placed(self, allocation: Allocation, placement: Placement) -> None:
        """The nodes of a cluster are found."""
        allocation.hold(placement)
        self._changed(allocation)
        self._look(allocation)
        self._pool.schedule()

    def wait(self, allocation: Allocation, message: str) -> None:
        """They are not: that is why."""
        if allocation.message != message:
            allocation.message = message
            self._tell()
            self._pool.schedule()

    def note(self, allocation: Allocation) -> None:
        """Something has become known of the job of a cluster on Slurm."""
        self._changed(allocation)

    def lost(self, allocation: Allocation, message: str) -> None:
        """A cluster on Slurm has no allocation any more: its jobs end, and it has stopped."""
        for gang in self._jobs(allocation):
            if gang.placement is not None:
                self._pool.guarded(gang, gang.lose, message)
        self._stop(allocation, message)
        self._changed(allocation)
        self._pool.schedule()

    def on_host(self) -> None:
        """A host was lost, or is back: whoever watches the clusters there is told."""
        if self._clusters:
            self._tell()

    def look(self) -> None:
        """See whether the nodes of clusters on Slurm are there."""
        if self._made_holder is not None:
            self._made_holder.look()

    def schedule(self, gangs: Iterable[Any]) -> None:
        """Give places to jobs of clusters, in order; the gangs are those that want one."""
        queues: dict[str, list[Any]] = {}
        for gang in gangs:
            queues.setdefault(gang.queue, []).append(gang)
        for name, waiting in queues.items():
            allocation = self._clusters.get(name)
            if allocation is None or not allocation.is_held:
                for gang in waiting:
                    gang.handle({"op": "cancel"}, lambda _answer: None)
            elif allocation.placement is None or allocation.releasing:
                why = f": {allocation.message}" if allocation.message else ""
                for position, gang in enumerate(in_order(waiting), start=1):
                    gang.waiting(QUEUED, f"cluster {name} is not up yet{why}", position)
            else:
                self._fill(allocation, allocation.placement, waiting)

    def _fill(self, allocation: Allocation, held: Placement, waiting: list[Any]) -> None:
        absent = unusable(held, self._pool.host)
        rooms = [room for room in allocation.rooms() if held.hosts[room.name] not in absent]
        for gang in self._pool.gangs():
            if gang.queue == allocation.name and gang.placement is not None and not gang.ended:
                if gang.id not in self._seats:
                    self._seats[gang.id] = on_nodes(gang.demand, gang.placement, held)
                fill(rooms, gang.demand, self._seats[gang.id])
        decisions = cluster_queue.decide(waiting, allocation, rooms)
        for gang, found in decisions.start:
            self._seats[gang.id] = found
            gang.place(on_hosts(found, held))
        for position, (gang, reason, message) in enumerate(decisions.waiting, start=1):
            gang.waiting(reason, "; ".join([message, *absent.values()]), position)

    def on_job(self, gang: Any) -> None:
        """A job of a cluster came, began or ended."""
        if gang.ended or gang.placement is None:
            self._seats.pop(gang.id, None)
        allocation = self._clusters.get(gang.queue)
        if allocation is not None:
            self._look(allocation)

    def _jobs(self, allocation: Allocation) -> list[Any]:
        return [
            gang for gang in self._pool.gangs() if gang.queue == allocation.name and not gang.ended
        ]

    def _look(self, allocation: Allocation) -> None:
        """See whether it is idle, and set the alarm for its autostop."""
        timer = self._timers.pop(allocation.name, None)
        if timer is not None:
            timer.cancel()
        if allocation.state is not AllocationState.UP or allocation.releasing:
            return
        if self._jobs(allocation):
            allocation.had_job, allocation.idle_since = True, None
            return
        now = self._pool.clock.now()
        if allocation.idle_since is None:
            allocation.idle_since = now
            self._changed(allocation)
        if allocation.autostop is None:
            return
        since, had_job = allocation.idle_since, allocation.had_job
        left = allocation.autostop.seconds_left(since, now, had_job=had_job)
        if left > 0:
            self._later(allocation, left, lambda: self._look(allocation))
            return
        allocation.begin_autostop()
        self._tell()
        self._release(allocation, stop=not allocation.autostop.down, answer=lambda _answer: None)

    def _release(
        self, allocation: Allocation, *, stop: bool, answer: Answer, insist: bool = False
    ) -> None:
        """End its jobs, then let go of its nodes, or `insist` that this happens later."""
        allocation.releasing = True
        if allocation.slurm:
            allocation.slurm["ending"] = STOP if stop else DOWN
            self._changed(allocation)
        left = self._jobs(allocation)
        count = [len(left)]

        def done(_answer: Json) -> None:
            count[0] -= 1
            if count[0] == 0:
                if allocation.slurm:
                    self._holder.end(allocation, on_end)
                else:
                    on_end({"ok": True})

        def on_end(told: Json) -> None:
            if told["ok"]:
                self._released(allocation, stop=stop)
            else:
                self._kept(allocation, str(told["error"]), insist=insist)
            answer(told)

        if not left:
            count[0] = 1
            done({})
        for gang in left:
            gang.handle({"op": "cancel", "grace": 0}, done)

    def _kept(self, allocation: Allocation, why: str, *, insist: bool) -> None:
        """Its nodes cannot be given back now."""
        if insist:
            self._later(allocation, AGAIN_SECONDS, lambda: self._insist(allocation))
        else:
            allocation.slurm.pop("ending", None)
            if allocation.keep():
                self._later(allocation, AGAIN_SECONDS, lambda: self._look(allocation))
        allocation.message = why
        self._changed(allocation)

    def _insist(self, allocation: Allocation) -> None:
        self._release(allocation, stop=False, answer=lambda _answer: None, insist=True)

    def _later(self, allocation: Allocation, seconds: float, call: Callable[[], object]) -> None:
        self._timers[allocation.name] = self._pool.loop.call_later(seconds, call)

    def _released(self, allocation: Allocation, *, stop: bool) -> None:
        if self._clusters.get(allocation.name) is not allocation:
            return
        self._stop(allocation, allocation.reason)
        if stop:
            self._changed(allocation)
        else:
            self._forget(allocation)
        self._pool.schedule()

    def _stop(self, allocation: Allocation, message: str = "") -> None:
        allocation.stop(message)
        timer = self._timers.pop(allocation.name, None)
        if timer is not None:
            timer.cancel()

    def _forget(self, allocation: Allocation) -> None:
        self._clusters.pop(allocation.name, None)
        for host in self._pool.hosts():
            host.send({"op": "forget_cluster", "cluster": allocation.uid})
        data = {"name": allocation.name, "id": allocation.uid}
        self._pool.remember({"type": "cluster", "gone": True, "cluster": data})
        self._tell()

    def _changed(self, allocation: Allocation) -> None:
        self._pool.remember({"type": "cluster", "cluster": allocation.to_json()})
        self._tell()

    def _tell(self) -> None:
        told: ClustersAnswer = {"ok": True, "clusters": self.status()}
        self._watchers = [answer for answer in self._watchers if answer(told) is not False]

    def _answer(self, allocation: Allocation) -> ClusterAnswer:
        return {"ok": True, "cluster": self._view(allocation)}

    def _view(self, allocation: Allocation) -> ClusterState:
        return {
            "name": allocation.name,
            "id": allocation.uid,
            "state": allocation.state.value,
            "message": allocation.message,
            "nodes": nodes(allocation, self._pool.host),
            "autostop": None if allocation.autostop is None else allocation.autostop.to_json(),
            "idleSince": allocation.idle_since,
        }
