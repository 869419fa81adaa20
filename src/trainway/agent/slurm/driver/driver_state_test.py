"""What a driver does takes every edge of its table, and it refuses all others.

Neither Slurm nor a process takes part: time passes, and steps speak and end, when the test says so.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest

from trainway.agent.base.clock import Clock
from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop, Timer
from trainway.agent.base.journal import Journal
from trainway.agent.base.plan import Plan
from trainway.agent.base.testing import container, jobset, role
from trainway.agent.base.transitions import TransitionError
from trainway.agent.base.transitions_testing import edges, refused, walked
from trainway.agent.slurm.commands import Commands, Result
from trainway.agent.slurm.driver import driver as module
from trainway.agent.slurm.driver import step_pods
from trainway.agent.slurm.driver.drive import FOLDERS
from trainway.agent.slurm.driver.driver import Driver
from trainway.agent.slurm.driver.driver_state import TRANSITIONS, DriverState
from trainway.agent.slurm.driver.step_pods import Ground
from trainway.agent.slurm.fencing import DriverLease, StaleError, Token
from trainway.agent.slurm.srun import lines
from trainway.agent.supervisor.remote_pod import RemotePod
from trainway.json_types import Json

RUNNING, HELD, LEAVING, LEFT, COMPLETING, DELIVERING, EXITING, STALE = DriverState
A_BEAT = 2.5
RUNS = "JobId=7 JobState=RUNNING PreemptTime=None"
PREEMPTED = "JobId=7 JobState=RUNNING PreemptTime=2026-11-15T15:46:38"


class VirtualLoop:
    """A loop whose time passes at once."""

    def __init__(self) -> None:
        self.now = 0.0
        self.stopped = False
        self.signals: dict[int, Callable[[], object]] = {}
        self._soon: deque[Callable[[], object]] = deque()
        self._timers: list[Timer] = []

    def on_signal(self, number: int, callback: Callable[[], object]) -> None:
        self.signals[number] = callback

    def call_soon(self, callback: Callable[[], object]) -> None:
        self._soon.append(callback)

    def call_later(self, delay: float, callback: Callable[[], object]) -> Timer:
        timer = Timer(self.now + delay, callback)
        self._timers.append(timer)
        return timer

    def stop(self) -> None:
        self.stopped = True

    def settle(self) -> None:
        while self._soon:
            self._soon.popleft()()

    def turn(self) -> None:
        self.settle()
        timer = min(self._timers)
        self._timers.remove(timer)
        self.now = max(self.now, timer.when)
        timer.run()
        self.settle()

    def pass_time(self, seconds: float) -> None:
        until = self.now + seconds
        while self._timers and min(self._timers).when <= until:
            self.turn()
        self.now = until


class FakeCommands:
    """Slurm's own programs."""

    def __init__(self) -> None:
        self.facts = RUNS
        self.called: list[str] = []

    def run(self, argv: Sequence[str], done: Callable[[Result], None]) -> None:
        if "show" not in argv:
            self.called.append(" ".join(argv))
        done(Result(argv, 0, self.facts.encode(), b""))


class FakeStep:
    """One call of srun."""

    def __init__(
        self,
        pods: Sequence[RemotePod],
        *,
        shares: bool,
        on_record: Callable[[RemotePod, Json], None],
        on_end: Callable[[Any, str], None],
    ) -> None:
        self.pods = list(pods)
        self.shares = shares
        self.places = {pod.place for pod in pods}
        self.delay = 0
        self.on_record = on_record
        self.on_end = on_end

    @property
    def is_over(self) -> bool:
        return all(pod.terminal for pod in self.pods)

    def start(self, *_: object) -> None: ...

    def order(self, _order: Json) -> None: ...

    def kill(self) -> None:
        self.on_end(self, "")


class World:
    """A driver of one pod."""

    def __init__(self, path: Path, patch: pytest.MonkeyPatch, *, is_apart: bool = False) -> None:
        self.path = path
        self.loop = VirtualLoop()
        self.commands = FakeCommands()
        self.steps: list[FakeStep] = []

        def step(*arguments: Any, **more: Any) -> FakeStep:
            self.steps.append(FakeStep(*arguments, **more))
            return self.steps[-1]

        patch.setattr(step_pods, "Step", step)
        directory, clock = Directory(str(path)), Clock()
        for name in FOLDERS:
            directory.make(name)
        lease = DriverLease(directory, Token("7", 0))
        lease.claim()
        srun = lines(["--role", "node", "srun"])
        ground = Ground(srun, {"node-0-0": "a"}, {"a": "127.0.0.1"}, {}, ["python3", "agent"])
        ground.is_apart, ground.own, ground.silence = is_apart, "a", 3600.0
        spec = jobset(role("node", container("main", "true")))
        plan = Plan({"version": 1, "id": "job", "name": "trial", "jobset": spec})
        journal = Journal(directory, clock.now)
        loop, commands = cast("EventLoop", self.loop), cast("Commands", self.commands)
        self.driver = Driver(plan, lease, ground, loop, journal, clock, commands)

    def start(self) -> None:
        """Begin, until the pod runs."""
        self.driver.start(None)
        self.loop.settle()
        self._say("Running", "running")

    def _say(self, phase: str, state: str, **more: object) -> None:
        (step,) = self.steps
        (pod,) = step.pods
        item = {"name": "main", "state": state, "restarts": 0, **more}
        uid = pod.identity.uid
        step.on_record(pod, {"type": "pod", "uid": uid, "phase": phase, "containers": [item]})
        self.loop.settle()

    def succeed(self) -> None:
        self._say("Succeeded", "terminated", exitCode=0)

    def stop_pod(self) -> None:
        self._say("Failed", "terminated", exitCode=143)

    def end_step(self, errors: str = "") -> None:
        self.steps[-1].on_end(self.steps[-1], errors)
        self.loop.settle()

    def be_revoked(self) -> None:
        self.end_step("srun: error: job 7 has been revoked")

    def term(self) -> None:
        self.loop.signals[signal.SIGTERM]()
        self.loop.settle()

    def ask(self, wish: str) -> None:
        (self.path / "wish").write_text(wish)
        self.term()

    def suspend(self) -> None:
        self.ask("suspend")

    def cancel(self) -> None:
        self.ask("cancel")

    def take_away(self) -> None:
        self.ask("run")

    def preempt(self) -> None:
        self.commands.facts = PREEMPTED
        self.loop.signals[signal.SIGUSR1]()
        self.loop.settle()

    def reach_limit(self) -> None:
        self.loop.signals[signal.SIGUSR1]()
        self.loop.settle()

    def wait(self) -> None:
        self.loop.pass_time(10.0)

    def take(self) -> None:
        """The relay has all that the job left."""
        (self.path / "taken").touch()
        self.loop.pass_time(1.0)

    def replace(self) -> None:
        """A newer attempt begins."""
        (self.path / "token").write_text("7.1")
        with pytest.raises(StaleError):
            self.loop.pass_time(A_BEAT)
        self.driver.give_way()
        self.loop.settle()


W = World
HELD_STEPS = (W.start, W.suspend, W.stop_pod, W.end_step)
LEFT_STEPS = (W.start, W.take_away, W.stop_pod)
OVER_STEPS = (W.start, W.succeed, W.end_step)
CANCELLED_STEPS = (W.start, W.cancel, W.stop_pod, W.end_step)
WHOLE = (COMPLETING, DELIVERING, EXITING)


@dataclass(frozen=True)
class Case:
    name: str
    steps: tuple[Callable[[World], None], ...]
    path: tuple[DriverState, ...]
    """The states that follow the first one."""
    called: tuple[str, ...] = ()
    """What Slurm was asked to do."""
    is_apart: bool = False
    is_stopped: bool = False
    """The process ends by itself."""


CASES = [
    Case("runs", (W.start,), ()),
    Case("stops for a suspension", (W.start, W.suspend, W.stop_pod), ()),
    Case("is suspended", HELD_STEPS, (HELD,)),
    Case("is suspended twice", (*HELD_STEPS, W.suspend), (HELD,)),
    Case("is suspended, and its time is over", (*HELD_STEPS, W.reach_limit), (HELD,)),
    Case("is suspended and cancelled", (*HELD_STEPS, W.cancel), (HELD,)),
    Case("is cancelled once more", (*HELD_STEPS, W.cancel, W.cancel), (HELD,), is_stopped=True),
    Case("is suspended and taken away", (*HELD_STEPS, W.take_away), (HELD, LEFT)),
    Case("is suspended and replaced", (*HELD_STEPS, W.replace), (HELD, STALE)),
    Case("is taken away", (W.start, W.take_away), (LEAVING,)),
    Case("is taken away twice", (W.start, W.take_away, W.preempt), (LEAVING,)),
    Case("is cancelled too late", (W.start, W.take_away, W.cancel), (LEAVING,)),
    Case("is taken away and replaced", (W.start, W.preempt, W.replace), (LEAVING, STALE)),
    Case("has left", LEFT_STEPS, (LEAVING, LEFT)),
    Case("has left, and is told so again", (*LEFT_STEPS, W.end_step, W.term), (LEAVING, LEFT)),
    Case("has left and is replaced", (*LEFT_STEPS, W.replace), (LEAVING, LEFT, STALE)),
    Case("loses its task", (W.start, W.end_step), (LEAVING, LEFT), ("scontrol requeue 7",)),
    Case("loses its task as it is suspended", (W.start, W.suspend, W.be_revoked), (LEAVING, LEFT)),
    Case("waits for its last step", (W.start, W.succeed), (COMPLETING,)),
    Case("waits for it no longer", (W.start, W.succeed, W.wait), WHOLE, is_stopped=True),
    Case("has no time for it", (W.start, W.succeed, W.term), (COMPLETING,), is_stopped=True),
    Case("is over", OVER_STEPS, WHOLE, is_stopped=True),
    Case("is over and replaced", (W.start, W.succeed, W.replace), (COMPLETING, STALE)),
    Case("waits for the relay", (*OVER_STEPS, W.term), WHOLE[:2], is_apart=True),
    Case("waits, and is replaced", (*OVER_STEPS, W.replace), (*WHOLE[:2], STALE), is_apart=True),
    Case("is taken", (*OVER_STEPS, W.take), WHOLE, is_apart=True, is_stopped=True),
    Case("is cancelled", CANCELLED_STEPS, WHOLE, ("scancel 7",)),
    Case(
        "is cancelled and ended", (*CANCELLED_STEPS, W.term), WHOLE, ("scancel 7",), is_stopped=True
    ),
    Case(
        "is cancelled and replaced", (*CANCELLED_STEPS, W.replace), (*WHOLE, STALE), ("scancel 7",)
    ),
    Case("is replaced", (W.start, W.replace), (STALE,)),
    Case("is replaced, and nothing else matters", (W.start, W.replace, W.take_away), (STALE,)),
    Case("is replaced as it is suspended", (W.start, W.suspend, W.replace), (STALE,)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_happens_leads_from_state_to_state(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = walked(monkeypatch, module)
    world = World(tmp_path, monkeypatch, is_apart=case.is_apart)
    for step in case.steps:
        step(world)
    assert seen == list(pairwise((RUNNING, *case.path)))
    assert world.commands.called == list(case.called)
    assert world.loop.stopped == case.is_stopped


def test_the_cases_walk_every_edge() -> None:
    paths = [(RUNNING, *case.path) for case in CASES]
    assert {edge for path in paths for edge in pairwise(path)} == edges(TRANSITIONS)


@pytest.mark.parametrize(("now", "then"), refused(TRANSITIONS))
def test_every_other_change_is_refused(
    now: DriverState, then: DriverState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = World(tmp_path, monkeypatch).driver
    driver._state = now
    with pytest.raises(TransitionError):
        driver._become(then)
    assert driver._state is now


def test_an_attempt_that_gives_way_writes_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its steps take longer to end than a beat, which must not keep it from killing them."""
    world = World(tmp_path, monkeypatch)
    world.start()
    world.suspend()
    before = (tmp_path / "journal.jsonl").read_bytes()
    world.replace()
    assert world.driver._pods.is_quiet
    assert not (tmp_path / "stopped").exists()
    world.preempt()
    world.cancel()
    assert (tmp_path / "journal.jsonl").read_bytes() == before
