"""Jobs that may take or wait longer than there are dates, as an older server has stored them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from trainway.backends.testing import FakeBackend
from trainway.engine.database import open_database
from trainway.engine.moving.candidates import Candidates
from trainway.engine.moving.failover import Failover
from trainway.engine.moving.move import Candidate
from trainway.engine.recovery.strategy import Strategy
from trainway.engine.store import Store
from trainway.engine.testing import World, act, jobset
from trainway.engine.times import time_text

LONG_S = 10**12
ELSEWHERE = Candidate("ssh/lab", [jobset()], [])


@pytest.mark.parametrize("seconds", [LONG_S, 2**63 - 1])
def test_they_stop_neither_the_start_of_a_server_nor_its_queue(
    seconds: int, tmp_path: Path
) -> None:
    backend, url = FakeBackend(), f"sqlite:///{tmp_path / 'state.db'}"

    async def before(world: World) -> None:
        job = await world.begun(await world.submit("long", requests={"cpu": "4"}))
        job.run()
        since = time_text(world.now)
        places = [Candidate("local", [jobset()], []), ELSEWHERE]
        waits: dict[str, Any] = {
            "patient": {"candidates": Candidates([ELSEWHERE], seconds, since).text()},
            "lost": {"recovery": Failover(Strategy.FAILOVER, places, seconds, since=since).text()},
        }
        for name, columns in waits.items():
            job_id = await world.submit(name, requests={"cpu": "1"})
            world.store.update(job_id, columns)
        ids = [each["metadata"]["id"] for each in (await world.engine.reading.page(9)).items]
        for job_id in ids:
            world.store.update(job_id, {"deadline_seconds": seconds})

    async def after(world: World) -> None:
        await world.until("long", "Running")
        await world.submit("next", requests={"cpu": "1"})
        await world.until("next", "Queued")
        (long,) = [job for job in backend.jobs.values() if job.workload.name == "long"]
        long.end()
        for name in ("patient", "lost", "next"):
            await world.until(name, "Starting")

    async def run() -> None:
        await act(before, World(backend, Store(open_database(url))))
        await act(after, World(backend, Store(open_database(url))))

    asyncio.run(run())
