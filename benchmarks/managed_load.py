"""The measurements of `benchmarks/managed.py`: a decision of the managed queue, and a whole server.

`live` is in managed_server.py. For `decision` the snapshots are made up: queues with quotas in
cohorts, users, priorities and time limits, and machines that are full, so that most jobs wait. Each
decision gets a snapshot of its own, as it is in a server, with what runs added up, which a server
keeps up as jobs start and end. It is made from that alone: what reads the store and carries out is
not in the figure.
"""

import random
import statistics
import time
from collections.abc import Iterator

from benchmarks import suite
from benchmarks.managed_server import live
from trainway.queueing.amounts import CPU, GPU, JOBS, MEMORY
from trainway.queueing.decision import decide
from trainway.queueing.queue_policy import Preemption, QueuePolicy
from trainway.queueing.snapshot import RunningGang, Snapshot, Tally, Used, WaitingGang
from trainway.server import collector

LIMITS_MS = {1_000: 20.0, 10_000: 100.0}
"""By how many jobs wait."""
DECISIONS = 100
QUEUES, COHORTS, USERS, LANES = 20, 4, 50, 8
SUBMITTED_BEFORE = 2_000


def snapshot(pending: int, seed: int) -> Snapshot:
    """A busy day."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    queues = {
        f"team-{number}": QueuePolicy(
            f"team-{number}",
            {CPU: 400_000, GPU: 110, MEMORY: 4 << 40, JOBS: 60},
            cohort=f"cohort-{number % COHORTS}",
            gpu_hours=100_000,
            weight=1 + number % 3,
            preemption=chance.choice(list(Preemption)),
            reclaims=number % 2 == 0,
        )
        for number in range(QUEUES)
    }
    names = list(queues)
    lanes = {f"k8s/{number}": {CPU: 900_000, MEMORY: 8 << 40, GPU: 250} for number in range(LANES)}
    places = list(lanes)

    shapes = [
        {CPU: 1000 * max(gpus, 1) * cpus, MEMORY: (gpus + 1) << 33, GPU: gpus}
        for gpus in (0, 1, 2, 4, 8, 16)
        for cpus in range(1, 5)
    ]

    def request() -> dict[str, int]:
        return chance.choice(shapes)

    earlier = [
        WaitingGang(
            *(f"r{number}", request(), chance.choice(places), chance.choice(names)),
            user=f"user-{chance.randrange(USERS)}",
            priority=chance.randint(-10, 10),
            order=number,
            limit_s=chance.choice((None, chance.randrange(1, 10_000))),
        )
        for number in range(SUBMITTED_BEFORE)
    ]
    begun = decide(Snapshot(earlier, [], queues, lanes, now=-10_000)).start
    running = [
        RunningGang(
            *(gang.id, gang.request, gang.lane, gang.queue, gang.user, gang.priority),
            started=-chance.randrange(10_000),
            ends=None if gang.limit_s is None else chance.randrange(1, 10_000),
        )
        for gang, _ in begun
    ]
    waiting = [
        WaitingGang(
            *(f"w{number}", request(), chance.choice(places), chance.choice(names)),
            user=f"user-{chance.randrange(USERS)}",
            priority=chance.randint(-10, 10),
            order=number,
            limit_s=chance.choice((None, chance.randrange(60, 10_000))),
            name=f"train-{number}",
        )
        for number in range(pending)
    ]
    used = Used({name: chance.randrange(10**9) for name in names})
    return Snapshot(waiting, running, queues, lanes, now=0, used=used, kept=Tally(running))


def decision() -> Iterator[suite.Row]:
    """One decision with 1,000 and with 10,000 jobs that wait."""
    collector.settle()  # as a server does once it has loaded
    for pending, limit in LIMITS_MS.items():
        taken, busy, started, waited, ran = [], [], 0, 0, 0
        for seed in range(DECISIONS):
            given = snapshot(pending, seed)
            begin, begin_busy = time.perf_counter(), time.process_time()
            decided = decide(given)
            taken.append((time.perf_counter() - begin) * 1000)
            busy.append((time.process_time() - begin_busy) * 1000)
            started += len(decided.start)
            waited += len(decided.waiting)
            ran += len(given.running)
        beside = (
            f"median {statistics.median(taken):.1f} ms; of the processor "
            f"{statistics.median(busy):.1f}, p99 {_p99(busy):.1f} ms; on average "
            f"{ran / DECISIONS:.0f} run, {started / DECISIONS:.1f} start, "
            f"{waited / DECISIONS:.0f} wait"
        )
        yield suite.Row(f"a decision over {pending} jobs, p99", _p99(taken), "ms", limit, beside)


def _p99(taken: list[float]) -> float:
    return statistics.quantiles(taken, n=100)[98]


MEASUREMENTS: dict[str, suite.Measurement] = {"decision": decision, "live": live}


def _rows(measurements: list[suite.Measurement]) -> suite.Rows:
    for measurement in measurements:
        yield from measurement()


def main(names: list[str]) -> int:
    """Take the named measurements, or all."""
    return suite.run(names, MEASUREMENTS, _rows)
