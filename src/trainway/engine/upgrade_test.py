"""Jobs on their way when the program becomes newer: they go on, in the queue that there always is.

The database is that of the last program without queues, moves and pipelines, on SQLite and on
PostgreSQL.
"""

import asyncio
from collections.abc import Callable

from sqlalchemy import Engine, MetaData, create_engine, insert, select
from sqlalchemy.schema import sort_tables

from trainway.backends.testing import FakeBackend
from trainway.engine.database import migrate, open_database
from trainway.engine.run.pipeline_testing import end, pipeline, submitted
from trainway.engine.store import Store
from trainway.engine.submission import Submission
from trainway.engine.testing import World, act, jobset, memory_database, told
from trainway.queueing.queue_policy import DEFAULT_QUEUE

BEFORE_QUEUES = "0016"


def as_older(url: str, newer: Engine) -> None:
    """Make a database of the older program with all that it would have had of the newer one."""
    old = create_engine(url)
    migrate(old, "", BEFORE_QUEUES)
    tables, there = MetaData(), MetaData()
    tables.reflect(old)
    there.reflect(newer)
    kept = [name for name in tables.tables if name in there.tables]
    with old.begin() as to, newer.connect() as source:
        for table in sort_tables([tables.tables[name] for name in kept]):
            columns = [there.tables[table.name].c[column.name] for column in table.columns]
            rows = [row._asdict() for row in source.execute(select(*columns))]
            if rows:
                to.execute(insert(table), rows)
    old.dispose()


async def left_behind(url: str, backend: FakeBackend) -> dict[str, str]:
    """Jobs that an older server left when it was stopped, by what they were doing."""
    database = memory_database()
    world = World(backend, Store(database))
    await world.engine.start()
    running = await world.submit("running", requests={"cpu": "2"})
    (await world.begun(running)).run()
    await world.until(running, "Running")
    paused = await world.submit("paused", spec={"suspend": True})
    (await world.begun(paused)).suspend()
    await world.until(paused, "Paused")
    ended = await world.submit("ended")
    await end(world, ended)
    waiting = await world.submit("waiting", requests={"cpu": "4"}, priority=2000)
    trials = Submission([jobset("sweep")], parameters=[{"lr": "1"}, {"lr": "2"}], parallel=1)
    sweep, _ = await world.engine.submit_array(trials)
    ids = [job["metadata"]["id"] for job in sweep]
    for live in list(world.engine._live.values()):
        await live.detach()
    as_older(url, database)
    await world.engine.close()
    named = {"running": running, "paused": paused, "ended": ended, "waiting": waiting}
    return {**named, "first": ids[0], "second": ids[1]}


def test_jobs_on_their_way_go_through_an_upgrade(new_database: Callable[[], str]) -> None:
    url, backend = new_database(), FakeBackend()

    async def after(world: World, ids: dict[str, str]) -> None:
        for id_ in ids.values():
            record = world.store.get(id_)
            assert (record.queue, record.making_room, record.move) == (DEFAULT_QUEUE, None, None)
            assert record.candidates is None
        assert world.store.get(ids["waiting"]).priority == 2000, "what is stored stays"
        assert world.store.get(ids["ended"]).phase == "Succeeded"
        assert ids["waiting"] not in backend.jobs
        backend.jobs[ids["running"]].end()
        await world.until(ids["running"], "Succeeded")
        await end(world, ids["waiting"])
        await world.engine.resume(ids["paused"])
        await told(backend.jobs[ids["paused"]], "resume")
        assert ids["second"] not in backend.jobs, "its run has one job at a time"
        await end(world, ids["first"])
        await end(world, ids["second"])
        run = await world.engine.runs.get("sweep")
        assert (run["status"]["phase"], "pipeline" in run) == ("Succeeded", False)
        tasks = await submitted(world, pipeline())
        for name in ("one", "two", "three"):
            await end(world, tasks[name])

    async def both() -> None:
        ids = await left_behind(url, backend)
        world = World(backend, Store(open_database(url)))
        await act(lambda world: after(world, ids), world)

    asyncio.run(both())
