import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from trainway.engine.database import open_database
from trainway.engine.faulty_store import ERRORS, Faults, faulty_store
from trainway.engine.ledger import Ledger
from trainway.engine.metrics.recorder import Recorder
from trainway.engine.metrics.report import Report
from trainway.engine.metrics.store import Range
from trainway.engine.record import JobRecord, JobSpec
from trainway.engine.store import Store
from trainway.engine.testing import World, memory_store, play
from trainway.json_types import Json


def with_job(store: Store) -> Store:
    record = JobRecord(id="a", name="demo", namespace="default", kind="JobSet", backend="local")
    store.add(record, JobSpec([], {}, {}, []))
    return store


def reports(count: int) -> list[Report]:
    return [Report(float(step), {"loss": float(step)}, step) for step in range(count)]


def test_what_is_noted_is_stored_soon_by_itself() -> None:
    async def scene() -> None:
        ledger = Ledger(with_job(memory_store()))
        recorder = Recorder(ledger)
        await recorder.note("a", reports(3))
        assert ledger.store.metrics.names("a") == []
        async with asyncio.timeout(60):
            await recorder.changes.wait("a", 0)
        assert len(ledger.store.metrics.points("a", "loss")) == 3
        ledger.close()

    asyncio.run(scene())


def test_very_many_are_written_in_portions() -> None:
    async def scene() -> None:
        ledger = Ledger(with_job(memory_store()))
        recorder = Recorder(ledger)
        await recorder.note("a", reports(12_000))
        assert recorder.changes.count("a") == 1
        await recorder.close()
        assert recorder.changes.count("a") == 2
        assert ledger.store.metrics.last_seq("a") == 12_000
        assert len(ledger.store.metrics.points("a", "loss")) <= 10_000
        ledger.close()

    asyncio.run(scene())


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("error", ERRORS)
def test_a_write_that_fails_is_repeated_and_nothing_is_doubled(
    tmp_path: Path, error: type, after: bool
) -> None:
    engine = open_database(f"sqlite:///{tmp_path}/x.db")
    with_job(Store(engine))

    async def scene() -> None:
        faults = Faults(error=error)
        ledger = Ledger(faulty_store(engine, faults))
        recorder = Recorder(ledger)
        await recorder.note("a", reports(2))
        faults.arm()
        faults.first, faults.after = 0, after
        await recorder.flush()
        faults.heal()
        await recorder.note("a", reports(1))
        await recorder.close()
        points = ledger.store.metrics.points("a", "loss")
        assert [point.value for point in points] == [0.0, 1.0, 0.0]
        ledger.close()

    asyncio.run(scene())
    engine.dispose()


class Job:
    id = "a"

    def __init__(self) -> None:
        self.stored: list[Mapping[str, Any]] = []

    def recorded(self, columns: Mapping[str, Any]) -> None:
        self.stored.append(columns)


@pytest.mark.parametrize("after", [False, True])
def test_a_record_changes_together_with_the_reports(tmp_path: Path, after: bool) -> None:
    engine = open_database(f"sqlite:///{tmp_path}/x.db")
    with_job(Store(engine))

    async def scene() -> None:
        faults = Faults()
        ledger = Ledger(faulty_store(engine, faults))
        recorder, job = Recorder(ledger), Job()
        await recorder.note("a", reports(2))
        recorder.tell(job, {"progress": {"progressPercentage": 1}, "journal_seq": 4})
        recorder.tell(job, {"progress": {"progressPercentage": 2}})
        faults.arm()
        faults.first, faults.after = 0, after
        await recorder.flush()
        assert bool(job.stored) is after
        faults.heal()
        await recorder.flush()
        assert job.stored == [{"progress": {"progressPercentage": 2}, "journal_seq": 4}]
        assert ledger.changes.count("a") == 1
        found = ledger.store.get("a")
        assert (found.progress_data, found.journal_seq) == ({"progressPercentage": 2}, 4)
        assert ledger.store.metrics.last_seq("a") == 2
        recorder.tell(job, {"journal_seq": 5})
        faults.arm()
        faults.first, faults.after = 0, False
        await recorder.settle("a")
        faults.heal()
        await recorder.close()
        assert ledger.store.get("a").journal_seq == 4
        ledger.close()

    asyncio.run(scene())
    engine.dispose()


def status(loss: str) -> Json:
    return {"metrics": [{"name": "loss", "value": loss}], "lastUpdatedTime": ""}


def test_reports_of_a_journal_that_a_crash_has_lost_are_read_again_and_kept_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/x.db"

    async def losses(world: World, count: int) -> list[float]:
        async with asyncio.timeout(60):
            while True:
                found = await world.engine.metrics.history("demo", [], Range(), 100)
                if len(found["series"].get("loss", ())) >= count:
                    return [point["value"] for point in found["series"]["loss"]]
                await asyncio.sleep(0.001)

    async def scene() -> None:
        store = Store(open_database(url))
        world = World(store=store)
        await world.engine.start()
        job = await world.begun(await world.submit())
        job.run()
        await world.until("demo", "Running")
        writes: list[object] = []
        monkeypatch.setattr(store, "update_all", lambda *changes, **_: writes.append(changes))
        job.write("progress", trainerStatus=status("3"))
        assert await losses(world, 1) == [3.0]
        assert (await world.engine.reading.get("demo"))["status"]["progress"] == status("3")
        monkeypatch.setattr(world.engine.recorder, "flush", lambda: asyncio.sleep(0))
        job.write("progress", trainerStatus=status("2"))
        async with asyncio.timeout(60):
            while not world.engine.recorder._held:
                await asyncio.sleep(0.001)
        assert not writes
        await world.engine.close()
        again = World(world.backend, Store(open_database(url)))
        await again.engine.start()
        assert await losses(again, 2) == [3.0, 2.0]
        job.write("progress", trainerStatus=status("1"))
        job.end(succeeded=True)
        await again.until("demo", "Succeeded")
        assert await losses(again, 3) == [3.0, 2.0, 1.0]
        assert (await again.engine.reading.get("demo"))["status"]["progress"] == status("1")
        await again.engine.close()

    asyncio.run(scene())


def test_every_report_of_a_journal_is_kept_and_gone_with_its_job() -> None:
    async def scene(world: World) -> None:
        job_id = await world.submit()
        job = await world.begun(job_id)
        for loss in ("2", "1"):
            status = {"metrics": [{"name": "loss", "value": loss}], "lastUpdatedTime": ""}
            job.write("progress", trainerStatus=status)
        await world.engine.report_progress(
            job_id, {"metrics": [{"name": "loss", "value": "3"}, {"name": "step", "value": "9"}]}
        )
        job.end(succeeded=True)
        await world.until(job_id, "Succeeded")
        await world.engine.recorder.flush()
        found = await world.engine.metrics.points(job_id, "loss", 9)
        assert sorted(point.value for point in found) == [1.0, 2.0, 3.0]
        assert {point.step for point in found} == {None, 9}
        await world.engine.delete(job_id)
        assert world.store.metrics.names(job_id) == []

    play(scene)
