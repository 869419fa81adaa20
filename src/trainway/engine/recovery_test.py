import asyncio
import errno
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from trainway.backends.testing import FakeBackend
from trainway.engine.database import open_database
from trainway.engine.store import Store
from trainway.engine.testing import World, act, play, told


def test_the_next_engine_adopts_everything(tmp_path: Path) -> None:
    """It has only the store and the backend."""
    backend = FakeBackend()
    url = f"sqlite:///{tmp_path / 'x.db'}"
    names = ("done", "running", "waiting", "paused")

    async def before(world: World) -> None:
        ids = [await world.submit(name, requests={"cpu": "2"}) for name in names]
        done, running = [await world.begun(job_id) for job_id in ids[:2]]
        running.run()
        await world.until("running", "Running")
        await world.engine.suspend("paused")
        done.end()
        await world.until("done", "Succeeded")
        await world.until("waiting", "Starting")
        await world.engine.suspend("running")
        await told(running, "suspend")

    async def after(world: World) -> None:
        jobs = {job.workload.name: job for job in backend.jobs.values()}
        await told(jobs["running"], "suspend", 2)
        jobs["running"].end()
        await world.until("running", "Succeeded")
        await world.until("paused", "Paused")
        assert await world.reasons("running") == [
            "Created", "Starting", "Running", "Suspending", "Succeeded",
        ]  # fmt: skip
        jobs["waiting"].end()
        await world.until("waiting", "Succeeded")
        assert set(jobs) == {"done", "running", "waiting"}
        paused = await world.engine.reading.record("paused")
        assert world.backend.ports == {paused.handle_data["port"]}

    async def run() -> None:
        await act(before, World(backend, Store(open_database(url))))
        await act(after, World(backend, Store(open_database(url))))

    asyncio.run(run())


def test_jobs_come_behind_those_of_an_engine_whose_clock_was_ahead(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    ids: list[str] = []

    async def before(world: World) -> None:
        world.now += timedelta(hours=1)
        ids.append(await world.submit())

    async def after(world: World) -> None:
        ids.append(await world.submit())
        assert (await world.engine.reading.record("demo")).id == ids[1]

    async def run() -> None:
        backend = FakeBackend()
        await act(before, World(backend, Store(open_database(url))))
        await act(after, World(backend, Store(open_database(url))))

    asyncio.run(run())
    assert ids == sorted(ids)


def test_jobs_that_the_store_has_lost_are_found_again() -> None:
    backend = FakeBackend()

    async def before(world: World) -> None:
        job = await world.begun(await world.submit("lost", requests={"cpu": "3"}))
        job.run()
        await world.until("lost", "Running")

    async def after(world: World) -> None:
        (found,) = (await world.engine.reading.page(9)).items
        assert found["metadata"]["name"] == "lost"
        await world.until("lost", "Running")
        await world.submit("next", requests={"cpu": "3"})
        await world.until("next", "Queued")
        (lost,) = [job for job in backend.jobs.values() if job.workload.name == "lost"]
        lost.end()
        await world.until("lost", "Succeeded")
        assert await world.engine.reading.counts() == (1, 2)

    async def run() -> None:
        await act(before, World(backend))
        await act(after, World(backend))

    asyncio.run(run())


def test_a_lost_agent_is_replaced_and_a_hopeless_one_given_up() -> None:
    async def scene(world: World) -> None:
        job = await world.begun(await world.submit())
        job.run()
        await world.until("demo", "Running")
        job.lose_agent()
        async with asyncio.timeout(60):
            while not job.recoveries:
                await asyncio.sleep(0.001)
        world.backend.can_recover = False
        job.lose_agent()
        status = (await world.until("demo", "Failed"))["status"]
        assert status["reason"] == "AgentLost"

    play(scene)


def test_a_store_that_fails_for_a_moment_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(world: World) -> None:
        job_id = await world.submit()
        job = await world.begun(job_id)
        update, failures = world.store.update_all, iter([True, True])

        def failing(*args: Any, **more: Any) -> None:
            if next(failures, False):
                raise OSError("no space left")
            update(*args, **more)

        monkeypatch.setattr(world.store, "update_all", failing)
        job.run()
        await world.until("demo", "Running")
        job.end()
        await world.until("demo", "Succeeded")

    play(scene)


def test_a_job_whose_start_cannot_be_written_is_not_given_to_its_backend(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("trainway.engine.backoff.FIRST_S", 0.001)

    async def scene(world: World) -> None:
        update, failures = world.store.update_all, iter([True] * 3)

        def failing(*args: Any, **more: Any) -> None:
            assert not world.backend.jobs
            if next(failures, False):
                raise OSError(errno.ENOSPC, "no space left")
            update(*args, **more)

        monkeypatch.setattr(world.store, "update_all", failing)
        job_id = await world.submit()
        assert (await world.engine.reading.get(job_id))["status"]["phase"] == "Pending"
        await world.begun(job_id)
        assert await world.reasons(job_id) == ["Created", "Starting"]

    play(scene)


def test_an_owner_need_not_wait_behind_what_the_journals_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With many jobs and a database that does not answer, only two writes of theirs are ahead.

    One is under way when the owner asks, and one gets in between the owner's reading and writing.
    """

    async def scene(world: World) -> None:
        jobs = [await world.begun(await world.submit(f"n{number}")) for number in range(9)]
        for job in jobs:
            job.run()
        for number in range(9):
            await world.until(f"n{number}", "Running")
        gate, update, order = threading.Event(), world.store.update_all, list[str]()

        def slow(changes: Any, **more: Any) -> None:
            gate.wait()
            order.extend(change.job_id for change in changes)
            update(changes, **more)

        ledger, asked = world.engine._ledger, asyncio.Event()
        call = ledger.call

        def noted(method: Any, *args: Any, **more: Any) -> Any:
            if method == world.engine.reading._whole:
                asked.set()
            return call(method, *args, **more)

        monkeypatch.setattr(world.store, "update_all", slow)
        for job in jobs:
            job.write("event", reason="Pulled", message="an image")
        monkeypatch.setattr(ledger, "call", noted)
        cancelled = asyncio.create_task(world.engine.cancel("n8"))
        await asked.wait()
        gate.set()
        await cancelled
        assert len(order) <= 3, order
        assert jobs[8].workload.id in order

    play(scene)


@pytest.mark.parametrize(
    ("hint", "said"), [("", "no room"), ("ask for less", "no room (ask for less)")]
)
def test_a_job_that_cannot_be_started_fails_and_says_what_to_do(hint: str, said: str) -> None:
    async def scene(world: World) -> None:
        world.backend.refuses, world.backend.hint = "no room", hint
        await world.submit()
        status = (await world.until("demo", "Failed"))["status"]
        assert (status["reason"], status["message"]) == ("AgentFailed", said)

    play(scene)


def test_a_port_that_was_taken_while_the_job_waited_is_replaced() -> None:
    async def scene(world: World) -> None:
        first = await world.submit("first", requests={"cpu": "4"})
        second = await world.submit("second", requests={"cpu": "4"})
        port = (await world.engine.reading.record(second)).handle_data["port"]
        world.backend.taken.add(port)
        (await world.begun(first)).end()
        job = await world.begun(second)
        assert job.workload.port != port
        stored = await world.engine.reading.record(second)
        assert stored.handle_data["port"] == job.workload.port
        assert port not in world.backend.ports

    play(scene)


def test_a_cancel_that_meets_a_lost_agent_starts_nothing_again() -> None:
    async def scene(world: World) -> None:
        job = await world.begun(await world.submit())
        job.run()
        await world.until("demo", "Running")
        job.is_alive = False
        assert (await world.engine.cancel("demo"))["status"]["phase"] == "Stopping"
        job.lose_agent()
        await world.until("demo", "Cancelled")
        assert (job.recoveries, job.is_alive) == (1, False)

    play(scene)


def test_what_owners_are_told_is_durable_and_what_journals_say_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scene(world: World) -> None:
        seen: list[tuple[bool, bool]] = []
        update_all = world.store.update_all

        def noted(changes: Any, *, is_durable: bool = True) -> None:
            for change in changes:
                is_wish = change.columns.get("wanted") in ("suspend", "cancel")
                seen.append((is_wish, is_durable))
            update_all(changes, is_durable=is_durable)

        monkeypatch.setattr(world.store, "update_all", noted)
        job = await world.begun(await world.submit())
        job.run()
        await world.until("demo", "Running")
        await world.engine.suspend("demo")
        await world.engine.cancel("demo")
        assert seen.count((True, True)) == 2
        assert set(seen) == {(True, True), (False, False)}

    play(scene)
