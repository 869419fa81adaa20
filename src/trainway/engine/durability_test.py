"""Every operation against a store that fails at each call in turn.

What was answered with success is found by the next server; what was refused has not happened.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import Engine, delete

from trainway.engine.cluster.request import Launch
from trainway.engine.cluster.testing import ClusterWorld, FakeAgents
from trainway.engine.database import open_database
from trainway.engine.database_failure import UncertainError
from trainway.engine.faulty_store import ERRORS, Faults, faulty_store
from trainway.engine.job_filter import Filter
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord
from trainway.engine.store import Store
from trainway.engine.submission import Submission
from trainway.engine.tables import METADATA
from trainway.engine.testing import jobset
from trainway.errors import DatabaseError

WRITES = {
    "add",
    "add_all",
    "delete",
    "next_number",
    "prepare_anew",
    "remove",
    "update",
    "update_all",
}
WAYS = [(False, False), (True, False), (False, True), (True, True)]
"""Whether a call fails after its work was done, and whether all calls behind it fail too."""

Step = Callable[[ClusterWorld], Awaitable[Any]]
ALL = {"cpu": "4"}


@dataclass(frozen=True)
class Operation:
    """Something that an owner asks for."""

    name: str
    arrange: Step
    act: Step
    has_happened: Callable[[ClusterWorld], bool]
    """By what is stored and what the backends were told."""
    is_done_later: bool = False
    """Whether it is enough that it comes to be so."""


def submission(name: str, **more: Any) -> Submission:
    return Submission([jobset(name, **more)], environ={"A": "b"})


async def nothing(_world: ClusterWorld) -> None:
    pass


async def blocked(world: ClusterWorld) -> None:
    """A job runs, and another waits for it."""
    await running(world, "first")
    await world.submit("second", requests=ALL)


async def running(world: ClusterWorld, name: str = "second") -> None:
    job = await world.begun(await world.submit(name, requests=ALL))
    job.run()
    await world.until(name, "Running")


async def paused(world: ClusterWorld) -> None:
    await blocked(world)
    await world.engine.suspend("second")


async def small(world: ClusterWorld) -> None:
    """A job waits that would fit with more nodes, too."""
    await running(world, "first")
    await world.submit("second", requests={"cpu": "1"})


async def over(world: ClusterWorld) -> None:
    (await world.begun(await world.submit("second"))).end()
    await world.until("second", "Succeeded")


async def failed_run(world: ClusterWorld) -> None:
    """One job has succeeded, and one has failed."""
    jobs, _ = await world.engine.submit_array(Submission([jobset("new")], num_jobs=2))
    for rank, job in enumerate(jobs):
        (await world.begun(job["metadata"]["id"])).end(succeeded=not rank)
        await world.until(job["metadata"]["id"], "Failed" if rank else "Succeeded")


def pods(world: ClusterWorld) -> int:
    """How many the second job has: what it is compiled to, and what it needs, are of one mind."""
    record = world.store.get("second")
    (role,) = world.store.spec(record.id).jobset["spec"]["replicatedJobs"]
    count: int = role["template"]["spec"]["parallelism"]
    assert record.demand_data["cpus"] == str(count)
    return count


def members(world: ClusterWorld) -> list[str]:
    """The jobs of the run with that end, and those that have not ended; the places of all once."""
    run = world.store.runs.get("new")
    found = sorted(world.store.page(Filter(run=run.id), 9), key=lambda job: job.place or job.id)
    assert [job.name for job in found] == ["new-0", "new-1"]
    return [f"{job.name} {job.phase}" if job.is_over else job.name for job in found]


async def held(world: ClusterWorld) -> None:
    await world.launch(cpus=1)
    await world.until_phase("UP")


async def stopped(world: ClusterWorld) -> None:
    await held(world)
    await world.clusters.stop("dev")


def phase(world: ClusterWorld, name: str = "second") -> str:
    found = [job.phase for job in stored(world) if job.name == name]
    return str(found[0]) if found else ""


def wanted(world: ClusterWorld) -> str:
    return next(job.wanted for job in stored(world) if job.name == "second")


def stored(world: ClusterWorld) -> list[JobRecord]:
    return world.store.page(Filter(), 9)


def names(world: ClusterWorld) -> list[str]:
    return sorted(job.name for job in stored(world))


def cluster(world: ClusterWorld) -> Any:
    return next((item for item in world.store.clusters.all() if item.name == "dev"), None)


def told(world: ClusterWorld) -> Any:
    return world.agents.clusters.get("dev")


OPERATIONS = [
    Operation(
        "submit",
        nothing,
        lambda world: world.engine.submit(submission("new")),
        lambda world: names(world) == ["new"],
    ),
    Operation(
        "submit suspended",
        nothing,
        lambda world: world.engine.submit(submission("new", spec={"suspend": True})),
        lambda world: names(world) == ["new"],
    ),
    Operation(
        "submit an array",
        nothing,
        lambda world: world.engine.submit_array(Submission([jobset("new")], num_jobs=2, key="k")),
        lambda world: names(world) == ["new-0", "new-1"],
    ),
    Operation(
        "rerun",
        over,
        lambda world: world.engine.rerun("second"),
        lambda world: names(world) == ["second", "second"],
    ),
    Operation(
        "rerun what failed of a run",
        failed_run,
        lambda world: world.engine.runs.replace("new", [Phase.FAILED]),
        lambda world: members(world) == ["new-0 Succeeded", "new-1"],
    ),
    Operation(
        "cancel what waits",
        blocked,
        lambda world: world.engine.cancel("second"),
        lambda world: phase(world) == "Cancelled",
    ),
    Operation(
        "cancel what runs",
        running,
        lambda world: world.engine.cancel("second"),
        lambda world: wanted(world) == "cancel",
    ),
    Operation(
        "suspend what waits",
        blocked,
        lambda world: world.engine.suspend("second"),
        lambda world: phase(world) == "Paused",
    ),
    Operation(
        "suspend what runs",
        running,
        lambda world: world.engine.suspend("second"),
        lambda world: wanted(world) == "suspend",
    ),
    Operation(
        "resume",
        paused,
        lambda world: world.engine.resume("second"),
        lambda world: phase(world) == "Queued",
    ),
    Operation(
        "scale",
        small,
        lambda world: world.engine.scaling.scale("second", 3),
        lambda world: pods(world) == 3,
    ),
    Operation(
        "delete what waits",
        blocked,
        lambda world: world.engine.delete("second"),
        lambda world: names(world) == ["first"],
        is_done_later=True,
    ),
    Operation(
        "delete what is over",
        over,
        lambda world: world.engine.delete("second"),
        lambda world: not names(world),
        is_done_later=True,
    ),
    Operation(
        "report progress",
        running,
        lambda world: world.engine.report_progress("second", {"progressPercentage": 7}),
        lambda world: stored(world)[0].progress_data == {"progressPercentage": 7},
    ),
    Operation(
        "launch",
        nothing,
        lambda world: world.clusters.launch(Launch("dev", "", 1, {"cpus": 1})),
        lambda world: cluster(world) is not None,
    ),
    Operation(
        "stop a cluster",
        held,
        lambda world: world.clusters.stop("dev"),
        lambda world: told(world)["state"] == "STOPPED" and cluster(world).state == "STOPPED",
        is_done_later=True,
    ),
    Operation(
        "start a cluster",
        stopped,
        lambda world: world.clusters.restart("dev"),
        lambda world: told(world)["state"] == "UP" and cluster(world).state == "UP",
        is_done_later=True,
    ),
    Operation(
        "autostop",
        held,
        lambda world: world.clusters.autostop("dev", 9),
        lambda world: bool(told(world)["autostop"]) and '"minutes": 9' in cluster(world).autostop,
        is_done_later=True,
    ),
    Operation(
        "down",
        held,
        lambda world: world.clusters.down("dev"),
        lambda world: told(world) is None and cluster(world) is None,
        is_done_later=True,
    ),
]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    """One database for all; each scene begins with empty tables."""
    if request.param == "postgresql":
        url = request.getfixturevalue("postgresql").new_database()
    else:
        url = f"sqlite:///{tmp_path_factory.mktemp('durability')}/x.db"
    engine = open_database(url)
    yield engine
    engine.dispose()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits long before the next attempt."""
    monkeypatch.setattr("trainway.engine.backoff.FIRST_S", 0.001)


class Kept(Store):
    """Outlives the engines that use it."""

    def close(self) -> None:
        pass


def emptied(database: Engine) -> None:
    with database.begin() as connection:
        for table in reversed(METADATA.sorted_tables):
            connection.execute(delete(table))


async def comes(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():
            await asyncio.sleep(0.001)


async def answered(world: ClusterWorld, operation: Operation) -> DatabaseError | None:
    try:
        await operation.act(world)
    except DatabaseError as error:
        return error
    return None


async def scene(database: Engine, operation: Operation, faults: Faults) -> list[str]:
    """Let it fail, then see what the next server finds; the calls that there were."""
    emptied(database)
    agents, first = FakeAgents(), faults.first
    faults.heal()
    store = faulty_store(database, faults)
    world = ClusterWorld(agents, store)
    await world.engine.start()
    try:
        await operation.arrange(world)
        had = operation.has_happened(world)
        ports = set(world.backend.ports)
        faults.arm()
        faults.first = first
        refused = await answered(world, operation)
        calls = list(faults.calls)
        faults.heal()
        await agreed(world)
        if refused is not None and not isinstance(refused, UncertainError):
            assert world.backend.ports == ports
    finally:
        await world.engine.close()
    after = ClusterWorld(agents, Kept(database))
    gone = world.backend.deleted
    after.backend.jobs = {key: job for key, job in world.backend.jobs.items() if key not in gone}
    await after.engine.start()
    try:
        await judged(after, operation, refused, had=had)
    finally:
        await after.engine.close()
    return calls


async def agreed(world: ClusterWorld) -> None:
    """What the engine has in memory comes to be what is stored."""
    lives = world.engine._live
    await comes(
        lambda: all(
            not live._is_doubtful and world.store.get(job_id) == live.record
            for job_id, live in list(lives.items())
        )
    )


async def judged(
    world: ClusterWorld, operation: Operation, refused: DatabaseError | None, *, had: bool
) -> None:
    assert not had, "the scene shows nothing"
    if refused is None and operation.is_done_later:
        await comes(lambda: operation.has_happened(world))
    elif refused is None:
        assert operation.has_happened(world), "it was acknowledged and is lost"
    elif not isinstance(refused, UncertainError):
        assert not operation.has_happened(world), f"it was refused and has happened: {refused}"
        assert refused.hint


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
@pytest.mark.usefixtures("quick")
def test_what_is_acknowledged_is_kept_and_what_is_refused_has_not_happened(
    database: Engine, operation: Operation, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    calls = asyncio.run(scene(database, operation, Faults()))
    assert calls
    for number, call in enumerate(calls):
        for after, is_lasting in WAYS if call in WRITES else WAYS[:1]:
            error = ERRORS[(number + after + is_lasting) % len(ERRORS)]
            asyncio.run(scene(database, operation, Faults(number, is_lasting, after, error)))
