import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from trainway.engine.metrics import recorder
from trainway.engine.testing import World, play

NEWEST = {"progressPercentage": 50, "metrics": [{"name": "loss", "value": "0.5"}]}
NODE = "node-0-0"


@dataclass(frozen=True)
class Case:
    name: str
    type: str
    fields: dict[str, Any]

    def __str__(self) -> str:
        return self.name


CASES = [
    Case(
        "usage",
        "usage",
        {"time": "2026-11-15T05:00:05Z", "pods": {NODE: {"cpu": 90.0, "memory": 1 << 20}}},
    ),
    Case("a link", "progress", {"trainerStatus": {"links": {"wandb": "https://wandb.ai/1"}}}),
    Case("a report of nothing", "progress", {"trainerStatus": {}}),
    Case("an event", "event", {"reason": "GPUIdle", "message": "", "object": f"pod/{NODE}"}),
]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("has_reported", [False, True])
def test_only_progress_overwrites_progress(
    case: Case, has_reported: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "INTERVAL_S", 0.01)

    async def scene(world: World) -> None:
        job_id = await world.submit()
        job = await world.begun(job_id)
        job.run()
        await world.until("demo", "Running")
        if has_reported:
            job.write("progress", trainerStatus={"progressPercentage": 5})
            await world.until("demo", lambda seen: bool(seen["status"]["progress"]))
        await world.engine.report_progress("demo", NEWEST)
        job.write(case.type, **case.fields)
        seq = len(job.records) - 1
        async with asyncio.timeout(60):  # nobody who watches the job is told of each record
            while (stored := await world.engine.reading.record("demo")).journal_seq < seq:
                await asyncio.sleep(0.001)
        assert stored.progress_data == NEWEST
        job.end()
        ended = await world.until("demo", "Succeeded")
        assert ended["status"]["progress"] == NEWEST

    play(scene)
