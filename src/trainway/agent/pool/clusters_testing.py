"""A pool without hosts, for tests of its clusters: time passes when the test says so."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trainway.agent.pool.attendance import Attendance
from trainway.agent.pool.clusters import Clusters
from trainway.agent.pool.lease import UP
from trainway.agent.pool.placement import Placement
from trainway.json_types import Json

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.pool.allocation import Allocation


@dataclass
class FakeTimer:
    """A call that is due when the test lets its time come."""

    due: float
    call: Callable[[], object]
    is_cancelled: bool = False

    def cancel(self) -> None:
        """It is not due any more."""
        self.is_cancelled = True


@dataclass
class FakeGang:
    """A job of a cluster that runs nothing."""

    id: str
    queue: str
    demand: list[Json]
    order: int
    priority: int = 0
    oversubscribe: bool = False
    ended: bool = False
    placement: Placement | None = None
    said: list[tuple[str, int]] = field(default_factory=list)
    cancels: list[Callable[[Json], object]] = field(default_factory=list)
    lost: str = ""

    @property
    def is_placed(self) -> bool:
        """Whether it has nodes."""
        return self.placement is not None

    @property
    def wants_place(self) -> bool:
        """Whether it waits for nodes."""
        return not self.ended and self.placement is None

    def place(self, placement: Placement) -> None:
        """Give it nodes."""
        self.placement = placement

    def waiting(self, reason: str, message: str, position: int) -> None:
        """Keep why it waits."""
        self.said.append((f"{reason}: {message}", position))

    def lose(self, message: str) -> None:
        """End it, with the reason."""
        self.lost, self.placement, self.ended = message, None, True

    def handle(self, request: Json, answer: Callable[[Json], object]) -> None:
        """Keep who is told once it is cancelled."""
        assert request["op"] == "cancel"
        self.cancels.append(answer)


@dataclass
class FakeHost:
    """Keeps what it is sent."""

    address: str = "10.0.0.1"

    def __init__(self, name: str = "this") -> None:
        self.name = name
        self.drained = ""
        self.state = UP
        self.settings: Json = {}
        self.told: list[Json] = []

    def send(self, frame: Json) -> bool:
        """Keep it; the host is there."""
        self.told.append(frame)
        return True


class FakeHolder:
    """Slurm, as the clusters of a pool see it; the test says what it does."""

    def __init__(self) -> None:
        self.begun: list[Callable[[Json], object]] = []
        self.ended: list[Callable[[Json], object]] = []
        self.kept: list[str] = []

    def begin(self, allocation: Allocation, answer: Callable[[Json], object]) -> None:
        """Keep who waits for nodes."""
        assert allocation.slurm
        self.begun.append(answer)

    def go_on(self, allocation: Allocation) -> None:
        """Keep whose nodes are there already."""
        self.kept.append(allocation.name)

    def end(self, allocation: Allocation, done: Callable[[Json], object]) -> None:
        """Keep who waits for the end."""
        assert allocation.releasing
        self.ended.append(done)

    def look(self) -> None:
        """There is nothing to see."""

    def close(self) -> None:
        """There is nothing to close."""


class FakePool:
    """Keeps what it is told; time passes when the test says so."""

    def __init__(self) -> None:
        self.holder = FakeHolder()
        self.time = 1000.0
        self.remembered: list[Json] = []
        self.jobs: list[FakeGang] = []
        self.timers: list[FakeTimer] = []
        self.orders = 0
        self.only = FakeHost()
        self.aside: dict[str, str] = {}
        """Why hosts take no new pods, by their names."""
        self.host_states: dict[str, str] = {}
        """The states of hosts that are not up."""
        self.attendance = Attendance(self)
        self.is_attended = True
        self.clusters = Clusters(self, lambda _clusters: self.holder)

    loop = property(lambda self: self)
    clock = property(lambda self: self)

    def now(self) -> float:
        """The time of the test."""
        return self.time

    def call_later(self, delay: float, call: Callable[[], object]) -> FakeTimer:
        """Keep a call until `later` comes to it."""
        timer = FakeTimer(self.time + delay, call)
        self.timers.append(timer)
        return timer

    def remember(self, record: Json) -> None:
        """What the next agent would know."""
        self.remembered.append(record)

    def gangs(self) -> list[FakeGang]:
        """The jobs of all clusters."""
        return self.jobs

    def next_order(self) -> int:
        """The place of the next job in the order of arrival."""
        self.orders += 1
        return self.orders

    def hosts(self) -> list[FakeHost]:
        """One host that is always the same."""
        return [self.only]

    def host(self, name: str) -> FakeHost:
        """A host of any name."""
        assert name
        found = FakeHost(name)
        found.drained = self.aside.get(name, "")
        found.state = self.host_states.get(name, UP)
        return found

    def schedule(self) -> None:
        """Let the clusters place their jobs."""
        waiting = [gang for gang in self.jobs if gang.queue and gang.wants_place]
        if waiting:
            self.clusters.schedule(waiting)

    def ask(self, **request: Any) -> list[Json]:
        """All answers to a request."""
        answers: list[Json] = []
        self.clusters.handle(request, lambda answer: answers.append(dict(answer)))
        return answers

    def launch(
        self,
        name: str = "dev",
        nodes: int = 1,
        gpus: float = 0,
        *,
        apart: bool = False,
        **more: Any,
    ) -> None:
        """Hold a cluster and start it; `apart`: on hosts of its own, `a0`, `a1` and so on."""
        cluster = {"name": name, "id": f"id-{name}", "nodes": nodes, "cpus": 2, "gpus": gpus}
        (answer,) = self.ask(op="allocate", cluster={**cluster, "given": True, **more})
        assert answer["ok"]
        hosts = {f"node-{index}": f"a{index}" if apart else "this" for index in range(nodes)}
        devices = {key: {"gpus": ["0"]} for key in hosts} if gpus else {}
        self.ask(op="start", cluster=name, placement={"hosts": hosts, "devices": devices})

    def submit(self, name: str, queue: str = "dev", pods: int = 1, **needs: float) -> FakeGang:
        """A job for a cluster, which is scheduled at once."""
        one = {"cpus": 0.5, "memory": 0, "gpus": 0, **needs}
        demand = [{"pod": f"node-0-{index}", **one} for index in range(pods)]
        gang = FakeGang(name, queue, demand, self.next_order())
        self.jobs.append(gang)
        self.clusters.on_job(gang)
        self.schedule()
        return gang

    def end(self, gang: FakeGang) -> None:
        """Let a job end by itself."""
        gang.ended, gang.placement = True, None
        self.clusters.on_job(gang)
        self.schedule()

    def states(self) -> dict[str, str]:
        """The state of each cluster."""
        return {item["name"]: item["state"] for item in self.clusters.status()}

    def later(self, seconds: float) -> None:
        """Let time pass, and make the calls that are due."""
        self.time += seconds
        due = [timer for timer in self.timers if timer.due <= self.time and not timer.is_cancelled]
        self.timers = [timer for timer in self.timers if timer not in due]
        for timer in due:
            timer.call()

    def next_agent(self) -> FakePool:
        """Another agent that has only what this one remembered."""
        pool = FakePool()
        pool.time = self.time
        for record in self.remembered:
            pool.clusters.restore(record)
        pool.jobs = self.jobs
        pool.clusters.begin()
        return pool
