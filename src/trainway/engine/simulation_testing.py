"""A week in minutes: the real engine, with a clock that jumps and machines that are made up.

`VirtualLoop` is an event loop whose time passes only when nothing is left to do. `SimulatedBackend`
has nodes that fail and gangs that run on them. Of the engine nothing is replaced: it has its store,
its queue and its watches, and its rounds happen as they do in a server.
"""

import asyncio
import random
import selectors
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from trainway.backends.base import Capacity, Handle, Workload
from trainway.backends.testing import FakeBackend, FakeJob
from trainway.engine.times import time_text
from trainway.jobset.quantity import Quantity

BEGAN = datetime(2026, 11, 15, tzinfo=UTC)
NODE_CPUS = 8
REPAIR_S = 3600.0


class _Selector(selectors.DefaultSelector):
    """Waits for nothing: where a loop would, its time passes."""

    def __init__(self) -> None:
        super().__init__()
        self.pass_time: Callable[[float], None] = lambda _: None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("nothing will ever happen again")
        self.pass_time(max(timeout, 0.0))
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next thing that is due.

    It has no threads: what they would do is done in its turn, in no time. So the same dice give the
    same week on every machine.
    """

    def __init__(self) -> None:
        selector = _Selector()
        super().__init__(selector)
        self._now = 0.0
        selector.pass_time = self._pass

    def time(self) -> float:
        """Seconds since it was made."""
        return self._now

    def clock(self) -> datetime:
        """The same, as the engine reads it."""
        return BEGAN + timedelta(seconds=self._now)

    def run_in_executor(  # type: ignore[override] # it has the same types, of any function
        self, executor: Any, func: Any, *args: Any
    ) -> "asyncio.Future[Any]":
        """Do in a moment what a thread would do; those before it come first."""
        del executor
        future = self.create_future()
        self.call_soon(_do, future, func, args)
        return future

    def _pass(self, seconds: float) -> None:
        self._now += seconds


def _do(future: "asyncio.Future[Any]", func: Any, args: Any) -> None:
    if future.cancelled():
        return
    try:
        result = func(*args)
    except Exception as error:  # noqa: BLE001 - whoever awaits it is told
        future.set_exception(error)
    else:
        future.set_result(result)


@dataclass
class SimulatedJob(FakeJob):
    """A gang on nodes that are made up."""

    clock: Callable[[], datetime] = lambda: BEGAN
    nodes: list[int] = field(default_factory=list)
    attempt: int = 0
    task: "asyncio.Task[None] | None" = None
    lost_node: asyncio.Event = field(default_factory=asyncio.Event)

    def write(self, kind: str, **fields: Any) -> None:
        """Write a record with the time of the simulation."""
        time = time_text(self.clock())
        self.records.append({"seq": len(self.records), "time": time, "type": kind, **fields})
        self.changed.set()

    @property
    def size(self) -> int:
        """How many nodes it needs."""
        return int(self._batch["completions"])

    @property
    def seconds(self) -> float:
        """How long an attempt takes that nothing disturbs."""
        return float(self._command[0])

    @property
    def is_good(self) -> bool:
        """Whether its program succeeds if it is left alone."""
        return self._command[1] == "0"

    @property
    def _batch(self) -> Any:
        return self.workload.jobset["spec"]["replicatedJobs"][0]["template"]["spec"]

    @property
    def _command(self) -> list[str]:
        container = self._batch["template"]["spec"]["containers"][0]
        return str(container["command"][-1]).split()


class SimulatedBackend(FakeBackend):
    """So many nodes, each of which a gang has for itself; the engine decides who starts."""

    output = None  # type: ignore[assignment] # nobody looks every second whether there are files

    def __init__(self, nodes: int, dice: random.Random, loop: VirtualLoop) -> None:
        super().__init__()
        self._free = list(range(nodes))
        self._broken: set[int] = set()
        self._on: dict[int, SimulatedJob] = {}
        """Who has a node."""
        self._size, self._dice, self._loop = nodes, dice, loop
        self._repaired = asyncio.Event()
        self.violations: list[str] = []
        self.failures = 0
        """How many nodes failed below a gang."""
        self.busy_s = 0.0
        """Seconds of nodes on which gangs ran."""

    def capacity(self) -> Capacity:
        """The nodes that are not broken."""
        cpus = NODE_CPUS * (self._size - len(self._broken))
        return Capacity(Quantity.parse(str(cpus)), Quantity.parse("1Pi"), ())

    async def submit(self, request: Any) -> None:
        """Begin to run a gang, once."""
        workload: Workload = request.workload
        if workload.id not in self.jobs:
            job = SimulatedJob(workload, clock=self._loop.clock)
            self.jobs[workload.id] = job
            job.task = self._loop.create_task(self._run(job))
        self.jobs[workload.id].submits += 1

    async def cancel(self, handle: Handle) -> None:
        """End a gang."""
        job = self._job(handle)
        if job.task is not None and not job.task.done():
            job.task.cancel()
            self._let_go(job)
            job.end(succeeded=False, reason="Cancelled")

    async def suspend(self, handle: Handle) -> None:
        """Stop a gang for a while."""
        job = self._job(handle)
        if job.task is not None and not job.task.done():
            job.task.cancel()
            self._let_go(job)
            job.suspend()

    async def resume(self, handle: Handle) -> None:
        """Let it go on from the beginning."""
        job = self._job(handle)
        if job.task is None or job.task.done() or job.task.cancelling():
            job.suspend("False")
            job.task = self._loop.create_task(self._run(job))

    async def fail_nodes(self, mean_s: float) -> None:
        """Let nodes fail at random, for ever."""
        while True:
            await asyncio.sleep(self._dice.expovariate(1 / mean_s))
            node = self._dice.randrange(self._size)
            if node in self._broken:
                continue
            self._broken.add(node)
            self._loop.call_later(REPAIR_S, self._repair, node)
            if node in self._free:
                self._free.remove(node)
                continue
            self.failures += 1
            self._on[node].lost_node.set()

    def _repair(self, node: int) -> None:
        self._broken.discard(node)
        self._free.append(node)
        self._repaired.set()

    async def _run(self, job: SimulatedJob) -> None:
        if len(self._free) < job.size and not self._broken:
            self.violations.append(f"{job.workload.name} started with {len(self._free)} free nodes")
        while True:
            while len(self._free) < job.size:
                self._repaired.clear()
                await self._repaired.wait()
            job.nodes = [self._free.pop() for _ in range(job.size)]
            self._on |= dict.fromkeys(job.nodes, job)
            for rank in range(job.size):
                job.run(f"node-0-{rank}", job.attempt)
            began = self._loop.time()
            is_whole = await self._is_left_alone(job)
            self.busy_s += (self._loop.time() - began) * job.size
            self._let_go(job)
            if is_whole:
                reason = "AllJobsCompleted" if job.is_good else "FailedJobs"
                job.end(succeeded=job.is_good, reason=reason)
                return
            job.attempt += 1
            job.write("status", jobset={"restarts": job.attempt})

    async def _is_left_alone(self, job: SimulatedJob) -> bool:
        """Whether an attempt came to its end before one of its nodes failed."""
        job.lost_node.clear()
        try:
            async with asyncio.timeout(job.seconds):
                await job.lost_node.wait()
        except TimeoutError:
            return True
        return False

    def _let_go(self, job: SimulatedJob) -> None:
        """Give back the nodes that still work."""
        nodes, job.nodes = job.nodes, []
        for node in nodes:
            del self._on[node]
        self._free += [node for node in nodes if node not in self._broken]
        self._repaired.set()

    def _job(self, handle: Handle) -> SimulatedJob:
        return self._as_simulated(self.jobs[handle["id"]])

    @staticmethod
    def _as_simulated(job: FakeJob) -> SimulatedJob:
        assert isinstance(job, SimulatedJob)
        return job
