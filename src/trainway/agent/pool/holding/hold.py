"""The allocations of Slurm that clusters hold: asked for, watched, and given back.

A cluster is one batch job, whose tasks are the host agents of its nodes. While it waits in Slurm's
queue the cluster waits with it; when it runs, its nodes become hosts of the pool, and the cluster
is up once they all answer. When Slurm ends it, for whatever reason, the cluster has stopped.
"""

from __future__ import annotations

import json

from trainway.agent.pool.allocation_state import AllocationState
from trainway.agent.pool.holding.nodes import host_name, host_of
from trainway.agent.pool.holding.relay_link import HoldRelay, RelayListener
from trainway.agent.pool.placement import GPUS, Placement
from trainway.agent.slurm.relay.end_reasons import details, reason_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from trainway.agent.pool.allocation import Allocation
    from trainway.agent.pool.holding.relay_link import AnyRelay
    from trainway.json_types import Json

    Done = Callable[[Json], object]

AGAIN_SECONDS = 5.0
"""How long to wait before Slurm is asked again when it did not answer."""
END_SECONDS = 20.0
"""How long to wait for a login node that is away before an allocation cannot be given back."""
PLAN: Json = {"outputs": "keep", "slurm": {"grace": 0, "requeue": False}}
"""What the relay must know of the job: nothing in it is to be stopped first, or brought here."""


class Hold:
    """The allocation of one cluster."""

    def __init__(self, allocation: Allocation, answer: Done | None = None) -> None:
        self.allocation = allocation
        self.answer = answer
        """Told once whether Slurm takes the job."""
        self.endings: list[Done] = []
        """Who is told when it is given back, or why it is not; nobody: it is to be held."""
        self.is_doubted = False
        """Whether a node went away, and Slurm was asked why."""

    @property
    def id(self) -> str:
        """What its job is called."""
        return self.allocation.uid

    @property
    def login(self) -> str:
        """Which relay has to do with it."""
        return json.dumps(self.slurm["cluster"], sort_keys=True)

    @property
    def slurm(self) -> Json:
        """What is known of it: `cluster`, `script`, `env`, and later `job`, `nodes`."""
        return self.allocation.slurm

    @property
    def nodes(self) -> list[str]:
        """The nodes that it has."""
        return [str(node) for node in self.slurm.get("nodes") or []]

    def told(self, answer: Json) -> None:
        """Answer whoever asked for it, once."""
        done, self.answer = self.answer, None
        if done is not None:
            done(answer)


class Holder(RelayListener):
    """All allocations of a pool. `pool` is its agent, `clusters` are those who hold them."""

    def __init__(self, pool: Any, clusters: Any) -> None:
        self._pool = pool
        self._clusters = clusters
        self._holds: dict[str, Hold] = {}
        self._relays: dict[str, AnyRelay] = {}
        """The relays, by what is said of their login nodes: that may have changed since a hold
        began."""
        self._told = ""
        """Why nobody answered, as it was last written to the log."""

    def begin(self, allocation: Allocation, answer: Done) -> None:
        """Have an allocation; answered when Slurm has the job, or does not want it."""
        hold = self._holds[allocation.uid] = Hold(allocation, answer)
        self._connect(hold)

    def go_on(self, allocation: Allocation) -> None:
        """Go on where an earlier agent left off."""
        hold = self._holds[allocation.uid] = Hold(allocation)
        self._connect(hold)

    def end(self, allocation: Allocation, done: Done) -> None:
        """Give an allocation back; `done` gets `ok`, or why that cannot be."""
        hold = self._holds.setdefault(allocation.uid, Hold(allocation))
        hold.endings.append(done)
        if not hold.slurm.get("sent"):
            self._ended(hold, {"ok": True})
        elif hold.endings == [done]:
            self._connect(hold)
            self._end_later(hold, done)

    def close(self) -> None:
        """Leave; what is held is held."""
        for relay in self._relays.values():
            relay.close()

    # The relays

    def _connect(self, hold: Hold) -> None:
        """Ask for what a hold wants, now or as soon as somebody answers."""
        relay = self._relays.get(hold.login)
        if relay is None:
            cluster: Json = hold.slurm["cluster"]
            around = (self._pool.loop, self._pool.archive, self._pool.environ, self)
            relay = self._relays[hold.login] = HoldRelay(cluster, *around)
            relay.open()
        elif relay.is_ready:
            self._ask(hold)

    def _of(self, relay: AnyRelay) -> list[Hold]:
        return [hold for hold in self._holds.values() if self._relays.get(hold.login) is relay]

    def on_ready(self, relay: AnyRelay) -> None:
        """Ask for all that is wanted."""
        self._told = ""
        for hold in self._of(relay):
            if hold.allocation.placement is not None:
                self._clusters.wait(hold.allocation, "")
            self._ask(hold)

    def on_absent(self, relay: AnyRelay) -> None:
        """Those who wait shall know why."""
        if self._told != str(relay.absence):
            self._told = str(relay.absence)
            self._pool.log(f"Slurm: {self._told}")
        for hold in self._of(relay):
            if hold.allocation.placement is None:
                self._clusters.wait(hold.allocation, relay.absence.message)
            hold.told({"ok": True})

    def _ask(self, hold: Hold) -> None:
        if self._holds.get(hold.id) is not hold:
            return
        relay = self._relays[hold.login]
        hold.slurm["directory"] = f"{relay.home}/jobs/{hold.id}"
        if hold.endings:
            relay.ask("forget", lambda answer: self._on_forgotten(hold, answer), id=hold.id)
        elif hold.slurm.get("over"):
            relay.ask("forget", lambda answer: self._on_cleared(hold, answer), id=hold.id)
        elif hold.slurm.get("job"):
            relay.ask("track", lambda answer: self._on_tracked(hold, answer), id=hold.id)
        else:
            hold.slurm["sent"] = True
            self._clusters.note(hold.allocation)
            fields: Json = {"id": hold.id, "plan": PLAN, "script": hold.slurm["script"]}
            relay.ask("submit", lambda answer: self._on_submitted(hold, answer), **fields)

    def _on_cleared(self, hold: Hold, answer: Json) -> None:
        """What the last job left is gone: another one can be had."""
        if answer.get("ok"):
            for name in ("over", "job", "nodes"):
                hold.slurm.pop(name, None)
            self._ask(hold)
        else:
            self._on_submitted(hold, answer)

    def _on_tracked(self, hold: Hold, answer: Json) -> None:
        """Its job is followed, unless somebody removed all that was known of it there."""
        is_gone = not answer.get("ok") and not answer.get("retry")
        if is_gone and self._holds.get(hold.id) is hold and not hold.endings:
            self._lost(hold, {"state": "LOST", "job": hold.slurm["job"]})

    def _on_submitted(self, hold: Hold, answer: Json) -> None:
        if self._holds.get(hold.id) is not hold or hold.endings:
            return
        if answer.get("ok"):
            hold.slurm["job"] = str(answer["job"])
            self._clusters.note(hold.allocation)
            hold.told({"ok": True})
        elif answer.get("retry"):
            self._clusters.wait(hold.allocation, str(answer["error"]))
            hold.told({"ok": True})
            self._pool.loop.call_later(AGAIN_SECONDS, lambda: self._ask_again(hold))
        else:
            relay = self._relays[hold.login]
            relay.ask("forget", lambda _answer: self._refused(hold, answer), id=hold.id)

    def _refused(self, hold: Hold, answer: Json) -> None:
        """Slurm does not want it, and its directory is gone."""
        if self._holds.get(hold.id) is not hold or hold.endings:
            return
        hold.slurm.pop("sent", None)
        message, hint = str(answer["error"]), str(answer.get("hint") or "")
        self._clusters.lost(hold.allocation, message)
        self._drop(hold)
        hold.told({"ok": False, "error": message, "hint": hint})

    def _ask_again(self, hold: Hold) -> None:
        relay = self._relays.get(hold.login)
        if relay is not None and relay.is_ready and not hold.slurm.get("job"):
            self._ask(hold)

    # What Slurm says

    def on_slurm(self, frame: Json) -> None:
        """A job waits, runs, or has ended."""
        hold = self._holds.get(str(frame.get("id")))
        if hold is None or hold.endings:
            return
        if frame.get("final"):
            self._lost(hold, frame)
        elif frame.get("state") == "RUNNING":
            self._runs(hold, str(frame.get("nodes") or ""))
        elif hold.allocation.placement is None:
            state = "is pending" if frame.get("waiting") else f"is {frame.get('state')}"
            where = f"in partition {frame.get('partition')}"
            reason = f": {frame['reason']}" if frame.get("reason") else ""
            message = f"Slurm job {frame.get('job')} {state} {where}{reason}"
            self._clusters.wait(hold.allocation, message)

    def _runs(self, hold: Hold, nodes: str) -> None:
        if "[" not in nodes:
            self._take_nodes(hold, [node for node in nodes.split(",") if node])
            return

        def on_expanded(answer: Json) -> None:
            if answer.get("ok") and not answer.get("status"):
                self._take_nodes(hold, str(answer["stdout"]).split())

        words = ["scontrol", "show", "hostnames", nodes]
        self._relays[hold.login].ask("command", on_expanded, argv=words)

    def _take_nodes(self, hold: Hold, nodes: list[str]) -> None:
        if self._holds.get(hold.id) is not hold or hold.endings:
            return
        if hold.nodes != nodes:
            hold.slurm["nodes"] = nodes
            self._clusters.note(hold.allocation)
            self._configure()
        self.look()

    def _lost(self, hold: Hold, frame: Json) -> None:
        state = str(frame.get("state"))
        _, said = reason_of(state)
        message = f"its allocation ended: {said} (Slurm: {details(state, frame)})"
        hold.slurm.update(over=True, nodes=[])
        self._clusters.lost(hold.allocation, message)
        self._drop(hold)

    # The nodes

    def _configure(self) -> None:
        """Have the nodes of all allocations as hosts."""
        hosts = []
        for hold in self._holds.values():
            allocation = hold.allocation
            hosts += [
                host_of(allocation.name, hold.slurm, node, allocation.amounts)
                for node in hold.nodes
            ]
        self._pool.have_hosts(hosts)

    def look(self) -> None:
        """See whether the nodes of clusters are there."""
        for hold in list(self._holds.values()):
            if hold.nodes and not hold.endings:
                self._look_at(hold)

    def _look_at(self, hold: Hold) -> None:
        allocation = hold.allocation
        hosts = [self._pool.host(host_name(allocation.name, node)) for node in hold.nodes]
        absent = [host for host in hosts if host is None or not host.is_usable]
        if allocation.placement is not None:
            if absent and not hold.is_doubted:
                self._connect(hold)  # Slurm may know more, and is asked at once
            hold.is_doubted = bool(absent)
        elif allocation.state is AllocationState.INIT and not absent:
            self._clusters.placed(allocation, placement_of(allocation, hosts))
        elif allocation.state is AllocationState.INIT:
            why = next((f": {host.absence}" for host in absent if host and host.failure), "")
            message = f"Slurm job {hold.slurm['job']} runs; its nodes do not answer yet{why}"
            self._clusters.wait(allocation, message)

    # Its end

    def _on_forgotten(self, hold: Hold, answer: Json) -> None:
        is_cut_off = answer.get("retry") and not self._relays[hold.login].is_ready
        if not is_cut_off:  # else the next connection asks again
            self._ended(hold, answer)

    def _look_at_end(self, hold: Hold, done: Done) -> None:
        """Wait no longer for a login node that is away; one that is there takes its time."""
        if self._holds.get(hold.id) is not hold or done not in hold.endings:
            return
        relay = self._relays[hold.login]
        if relay.is_ready:
            self._end_later(hold, done)
            return
        message = f"its Slurm job cannot be ended now: {relay.absence.message}"
        self._ended(hold, {"ok": False, "error": message, "hint": relay.absence.hint})

    def _end_later(self, hold: Hold, done: Done) -> None:
        self._pool.loop.call_later(END_SECONDS, lambda: self._look_at_end(hold, done))

    def _ended(self, hold: Hold, answer: Json) -> None:
        endings, hold.endings = hold.endings, []
        if answer.get("ok"):
            for name in ("sent", "over", "job", "nodes", "ending"):
                hold.slurm.pop(name, None)
        if answer.get("ok") or not hold.allocation.is_held:
            self._drop(hold)
        for done in endings:
            done(answer)

    def _drop(self, hold: Hold) -> None:
        """Have no more to do with it."""
        self._holds.pop(hold.id, None)
        self._configure()
        if not self._holds:
            self.close()
            self._relays = {}


def placement_of(allocation: Allocation, hosts: list[Any]) -> Placement:
    """The nodes of a cluster, each of them a host, with the GPUs that Slurm gave it."""
    keys = allocation.keys
    placed = {key: host.name for key, host in zip(keys, hosts)}  # noqa: B905 - not in Python 3.8
    devices = {
        key: {GPUS: host.capacity().gpus}
        for key, host in zip(keys, hosts)  # noqa: B905 - the same
        if host.capacity().gpus
    }
    return Placement(placed, devices)
