"""What a supervisor does takes every edge of its table, and it refuses all others."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from trainway.agent.base.clock import Clock
from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.base.journal import Journal
from trainway.agent.base.plan import Plan
from trainway.agent.base.testing import container, jobset, role
from trainway.agent.base.transitions import TransitionError
from trainway.agent.base.transitions_testing import edges, refused, walked
from trainway.agent.supervisor import supervisor as module
from trainway.agent.supervisor.remote_pod import RemotePod
from trainway.agent.supervisor.remote_pods import RemotePods
from trainway.agent.supervisor.supervisor import Supervisor
from trainway.agent.supervisor.supervisor_state import TRANSITIONS, SupervisorState

RUNNING, LEAVING, LEFT, ENDING, ENDED = SupervisorState


class SlowPod(RemotePod):
    """One that ends when the test says so."""

    def interrupt(self, _reason: str) -> None:
        self._stop()


class SlowMachine(RemotePods):
    """One that is cleared when the test says so."""

    kind = SlowPod

    def send_stop(self, pod: RemotePod) -> None: ...

    def send_go(self, pod: RemotePod) -> bool:
        return pod.started

    def clear(self, done: Callable[[], object]) -> None:
        self.cleared = done


class Owner:
    def on_turn(self) -> None: ...

    def on_pod_over(self) -> None: ...

    def abandon(self) -> None: ...


class World:
    """A supervisor of one pod."""

    def __init__(self, path: Path) -> None:
        spec = jobset(role("node", container("main", "true")))
        plan = Plan({"version": 1, "id": "job", "name": "trial", "jobset": spec})
        loop, clock = EventLoop(), Clock()
        journal = Journal(Directory(str(path)), clock.now)
        self._journal = path / "journal.jsonl"
        self._loop = loop
        self._machine = SlowMachine(Owner(), loop, journal, clock)
        self.overs = 0
        self.supervisor = Supervisor(plan, loop, journal, clock, self._machine, self._on_over)

    def _on_over(self) -> None:
        self.overs += 1

    def _settle(self) -> None:
        for _ in range(4):
            self._loop.call_soon(lambda: None)
            self._loop.turn()

    def start(self) -> None:
        self.supervisor.start()
        self._pod().sent_to("here", "node-0-0")

    def _pod(self) -> SlowPod:
        (pod,) = self.supervisor.live_pods()
        assert isinstance(pod, SlowPod)
        return pod

    def end_pod(self) -> None:
        self._pod().lose("Gone", "")
        self._settle()

    def leave(self) -> None:
        self.supervisor.leave()

    def cancel(self) -> None:
        self.supervisor.cancel()
        self._settle()

    def clear(self) -> None:
        self._machine.cleared()

    def fail(self) -> None:
        self.supervisor.fail("oh")

    def ends(self) -> int:
        """How often the end is written."""
        if not self._journal.exists():
            return 0
        lines = self._journal.read_text().splitlines()
        return sum(json.loads(line)["type"] == "end" for line in lines)


W = World


@dataclass(frozen=True)
class Case:
    name: str
    steps: tuple[Callable[[World], None], ...]
    path: tuple[SupervisorState, ...]
    """The states that follow the first one."""
    ends: int = 0
    overs: int = 0
    """How often others were told that it is over."""


CASES = [
    Case("runs", (W.start,), ()),
    Case("waits for its pods", (W.start, W.cancel), ()),
    Case("is cleared first", (W.start, W.cancel, W.end_pod), (ENDING,)),
    Case("ends", (W.start, W.cancel, W.end_pod, W.clear), (ENDING, ENDED), ends=1, overs=1),
    Case("fails", (W.start, W.fail), (ENDING, ENDED), ends=1),
    Case("fails before it starts", (W.fail,), (ENDING, ENDED), ends=1),
    Case("fails at its end", (W.start, W.cancel, W.end_pod, W.fail), (ENDING, ENDED), ends=1),
    Case("leaves", (W.start, W.leave), (LEAVING,)),
    Case("has left", (W.start, W.leave, W.end_pod, W.clear), (LEAVING, LEFT), overs=1),
    Case("has left, and is told so again", (W.start, W.leave, W.leave), (LEAVING,)),
    Case("is cancelled too late", (W.start, W.leave, W.cancel), (LEAVING,)),
    Case("does not leave its end", (W.start, W.cancel, W.end_pod, W.leave), (ENDING,)),
    Case("fails as it leaves", (W.start, W.leave, W.fail), (LEAVING, ENDING, ENDED), ends=1),
    Case(
        "fails when it has left",
        (W.start, W.leave, W.end_pod, W.fail),
        (LEAVING, LEFT, ENDING, ENDED),
        ends=1,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_happens_leads_from_state_to_state(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = walked(monkeypatch, module)
    world = World(tmp_path)
    for step in case.steps:
        step(world)
    assert seen == list(pairwise((RUNNING, *case.path)))
    assert (world.ends(), world.overs) == (case.ends, case.overs)
    assert world.supervisor.ended == (case.path[-1:] == (ENDED,))


def test_the_cases_walk_every_edge() -> None:
    paths = [(RUNNING, *case.path) for case in CASES]
    seen = {edge for path in paths for edge in pairwise(path)}
    assert seen == edges(TRANSITIONS)


@pytest.mark.parametrize(("now", "then"), refused(TRANSITIONS))
def test_every_other_change_is_refused(
    now: SupervisorState, then: SupervisorState, tmp_path: Path
) -> None:
    supervisor = World(tmp_path).supervisor
    supervisor._state = now
    with pytest.raises(TransitionError):
        supervisor._become(then)
    assert supervisor._state is now
