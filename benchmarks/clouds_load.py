"""Servers that rent of stand-in clouds, as processes of their own: killed, or with much to do."""

import asyncio
import json
import os
import random
import resource
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.suite import Row
from trainway.backends.base import BackendSettings
from trainway.backends.registry import Registry
from trainway.engine.cluster.record import ClusterRecord, State
from trainway.engine.database import open_database
from trainway.engine.ids import Ids
from trainway.engine.jobs import Engine
from trainway.engine.rental.kills_testing import (
    MOST_STEPS,
    KilledLife,
    random_faults,
    random_steps,
)
from trainway.engine.rental.record import Attempt, Rental, RentalState, RentedMachine
from trainway.engine.rental.testing import TERMS, RentalWorld, Steps, wanted
from trainway.engine.store import Store

KILLED: Final = 9
_ANSWER: Final = "answer.json"


def in_process(folder: Path, work: Callable[[], object]) -> tuple[bool, object]:
    """Do something in a process of its own; whether it was killed, and else what it gave."""
    answer = folder / _ANSWER
    answer.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            answer.write_text(json.dumps(work()))
            status = 0
        except Exception:  # noqa: BLE001 - it is shown, and the parent fails
            traceback.print_exc()
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    was_killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == KILLED
    if not was_killed and status != 0:
        raise RuntimeError("a server has failed; see above")
    return was_killed, None if was_killed else json.loads(answer.read_text())


def disorder(
    what: str, kills: int, life: Callable[[Path, int], tuple[int, list[str]]]
) -> Iterator[Row]:
    """What was wrong after so many kills, in one life after the other, each with its seed."""
    killed, lives, wrong = 0, 0, list[str]()
    began = time.perf_counter()
    while killed < kills:
        with tempfile.TemporaryDirectory() as folder:
            more, found = life(Path(folder), lives)
        killed, lives, wrong = killed + more, lives + 1, [*wrong, *found]
    for each in wrong:
        print(each)
    took = time.perf_counter() - began
    beside = f"{killed} kills in the lives of {lives} clusters, {took:.0f} s"
    yield Row(what, len(wrong), "", 0, beside)


def killed_life(folder: Path, seed: int) -> tuple[int, list[str]]:
    """One cluster and its servers: how many of them were killed, and what was wrong in the end."""
    chance = random.Random(seed)  # noqa: S311 - the same each time
    faults = random_faults(chance)

    def life() -> KilledLife:
        database = open_database(f"sqlite:///{folder / 'trainway.db'}")
        return KilledLife(folder, RentalWorld(folder, database))

    RentalWorld(folder).aws.break_next(*faults)
    return killed_servers(folder, chance, life, MOST_STEPS, f"seed {seed}")


def killed_servers(
    folder: Path, chance: random.Random, life: Callable[[], KilledLife], most: int, which: str
) -> tuple[int, list[str]]:
    """The servers of a cluster one after the other, all but the last of which may be killed."""
    steps = random_steps(chance, kills_for_real=True, most=most)
    was_killed, _ = in_process(folder, lambda: life().live(steps))
    kills = int(was_killed)
    while chance.random() < 0.4:
        later = random_steps(chance, kills_for_real=True, most=most // 2)  # it has less to do
        was_killed, _ = in_process(folder, partial(_lived_on, life, later))
        kills += was_killed
    _, wrong = in_process(folder, lambda: life().restart())
    if not isinstance(wrong, list):
        raise TypeError("a server that is not killed says what is wrong")
    return kills, [f"{which}: {each}" for each in wrong]


def _lived_on(life: Callable[[], KilledLife], steps: Steps) -> bool:
    return life().live_on(steps)


def launched(folder: Path, clusters: int, nodes: int) -> dict[str, float]:
    """So many clusters at once, by a process with all that a server has in memory."""
    import trainway.server.app  # noqa: F401, PLC0415 - for its weight

    world = RentalWorld(folder)
    world.aws.offer_hosts([])

    async def scene() -> dict[str, float]:
        home = folder / "home"
        home.mkdir()
        store = Store(open_database(f"sqlite:///{home / 'trainway.db'}"))
        engine = Engine(store, Registry(BackendSettings(home)))
        await engine.start()
        rentals, around = world.server(store=store)
        before = resident_mb()
        began = time.perf_counter()
        names = [f"c{number:03d}" for number in range(clusters)]
        made = await asyncio.gather(*(rentals.rent(name, wanted(nodes), TERMS) for name in names))
        took = time.perf_counter() - began
        addresses = {each.public_address for rental in made for each in rental.machines}
        running = [each for each in rentals.all() if each.state is RentalState.RUNNING]
        lost = clusters - len(running) + clusters * nodes - len(addresses)
        lost += abs(len(world.machines()) - clusters * nodes)
        after = resident_mb()
        ending = time.perf_counter()
        await asyncio.gather(*(rentals.end(name) for name in names))
        ended = time.perf_counter() - ending
        left = len(world.machines()) + len(rentals.all())
        await rentals.close()
        around.ledger.close()
        await engine.close()
        return {
            "seconds": took,
            "ending_seconds": ended,
            "lost": lost,
            "left": left,
            "before_mb": before,
            "mb": max(after, peak_mb()),
        }

    return asyncio.run(scene())


def keep_clusters(home: Path, clusters: int) -> None:
    """Write stopped clusters on rented machines into the database of a server that is to start."""
    shape = {"cpus": "8", "memory": "32Gi", "gpus": 8, "accelerators": "H100"}
    store, ids = Store(open_database(f"sqlite:///{home / 'trainway.db'}")), Ids()
    for number in range(clusters):
        name, infra = f"c{number:03d}", "aws/us-east-1/us-east-1a"
        store.clusters.add(
            ClusterRecord(
                name=name,
                id=ids.new(),
                infra=infra,
                pool="aws",
                nodes=2,
                state=State.STOPPED,
                resources=json.dumps(shape),
                launched="2026-11-18T08:00:00.000000Z",
            )
        )
        machines = tuple(RentedMachine(f"i-{number}-{rank}", rank) for rank in range(2))
        tried = tuple(
            Attempt("aws", "us-east-1", f"z{each}", "p5", error="no") for each in range(5)
        )
        rental = Rental(
            cluster=name,
            token=ids.new(),
            state=RentalState.STOPPED,
            cloud="aws",
            region="us-east-1",
            zone="us-east-1a",
            instance_type="p5",
            machines=machines,
            history=tried,
        )
        store.rentals.change([rental])
    store.close()


def peak_mb() -> float:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def resident_mb() -> float:
    """The memory that it has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
