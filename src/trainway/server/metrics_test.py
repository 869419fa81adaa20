"""The history of metrics over HTTP."""

import asyncio
import json
from pathlib import Path

import pytest

from trainway.engine.metrics.report import Report
from trainway.json_types import Json
from trainway.server.streams import metric_chunks
from trainway.server.testing_site import Site, play


def report(step: int, **values: float) -> bytes:
    pairs = [{"name": name, "value": str(value)} for name, value in values.items()]
    metrics = [{"name": "step", "value": str(step)}, *pairs]
    time = f"2026-11-15T05:00:{step:02}Z"
    return json.dumps({"trainerStatus": {"metrics": metrics, "lastUpdatedTime": time}}).encode()


def point(step: int, value: float) -> Json:
    return {"step": step, "time": f"2026-11-15T05:00:{step:02}.000000Z", "value": value}


def test_series_range_and_resolution(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        job_id = await site.world.submit()
        assert (await site.ask("GET", "/jobs/demo/metrics"))[1] == {"series": {}, "summary": {}}
        for step, loss in enumerate((4.0, 1.0, 3.0, 2.0, 2.5), 1):
            path = f"/jobs/{job_id}/progress"
            assert (await site.ask("POST", path, report(step, loss=loss, acc=1.0)))[0] == 200
        status, answer = await site.ask("GET", "/jobs/demo/metrics?series=loss")
        losses = [point(1, 4.0), point(2, 1.0), point(3, 3.0), point(4, 2.0), point(5, 2.5)]
        assert (status, answer["series"]) == (200, {"loss": losses})
        assert answer["summary"] == {
            "loss": {"last": 2.5, "minimum": 1.0, "maximum": 4.0, "step": 5}
        }
        for query, steps in (
            ("min_step=2&max_step=3", [2, 3]),
            ("since=2026-11-15T05:00:04Z", [4, 5]),
            ("until=2026-11-15T05:00:01Z", [1]),
        ):
            _, answer = await site.ask("GET", f"/jobs/demo/metrics?{query}")
            assert [found["step"] for found in answer["series"]["loss"]] == steps
            assert [found["step"] for found in answer["series"]["acc"]] == steps
        _, answer = await site.ask("GET", "/jobs/demo/metrics?resolution=4")
        assert [found["step"] for found in answer["series"]["loss"]] == [1, 2, 5]
        _, answer = await site.ask("GET", "/jobs/demo/metrics?fields=summary")
        assert (answer["series"], set(answer["summary"])) == ({}, {"loss", "acc"})

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [
        ("series=lss", 404, None),
        ("resolution=3", 422, "resolution"),
        ("resolution=10001", 422, "resolution"),
        ("min_step=x", 422, "min_step"),
        ("max_step=" + "9" * 30, 422, "max_step"),
        ("since=soon", 400, "since"),
        ("until=later", 400, "until"),
        ("&".join(["series=a"] * 201), 422, "series"),
    ],
)
def test_nonsense_is_refused(tmp_path: Path, query: str, status: int, field: str | None) -> None:
    async def scene(site: Site) -> None:
        await site.world.submit()
        await site.ask("POST", "/jobs/demo/progress", report(1, loss=1.0))
        found, answer = await site.ask("GET", f"/jobs/demo/metrics?{query}")
        assert (found, answer["error"]["field"]) == (status, field)
        if status == 404:
            assert answer["error"]["hint"] == "its series: loss"

    play(tmp_path, scene)


def test_a_stream_has_what_is_kept_and_what_is_new_until_the_end(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        job_id = await site.world.submit()
        job = await site.world.begun(job_id)
        await site.ask("POST", "/jobs/demo/progress", report(1, loss=4.0))
        stream = aiter(metric_chunks(site.world.engine.metrics, job_id, 0))
        async with asyncio.timeout(60):
            first = (await anext(stream)).decode()
            await site.ask("POST", "/jobs/demo/progress", report(2, loss=3.0))
            second = (await anext(stream)).decode()
            job.end()
            rest = [chunk.decode() async for chunk in stream]
        assert first.startswith("id: 1\nevent: points\ndata: ")
        data = json.loads(first.partition("data: ")[2])
        assert data == {"series": {"loss": [point(1, 4.0)]}}
        assert second.startswith("id: 2\n")
        assert rest == ["event: end\ndata: {}\n\n"]
        again = [
            chunk.decode() async for chunk in metric_chunks(site.world.engine.metrics, job_id, 1)
        ]
        assert again == [second, *rest]

    play(tmp_path, scene)


def test_what_a_job_uses_is_apart_from_what_it_reports(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        job_id = await site.world.submit()
        job = await site.world.begun(job_id)
        await site.ask("POST", "/jobs/demo/progress", report(1, loss=4.0))
        used = Report(1e9, {"system/cpu@node-0": 98.5})
        await site.world.engine.recorder.note(job_id, [used])
        _, reported = await site.ask("GET", "/jobs/demo/metrics")
        assert list(reported["series"]) == ["loss"]
        _, system = await site.ask("GET", "/jobs/demo/metrics?system=true")
        assert list(system["series"]) == list(system["summary"]) == ["system/cpu@node-0"]
        _, named = await site.ask("GET", "/jobs/demo/metrics?series=system/cpu@node-0")
        assert list(named["series"]) == ["system/cpu@node-0"]
        job.end()
        metrics = site.world.engine.metrics
        chunks = [chunk.decode() async for chunk in metric_chunks(metrics, job_id, 0, system=True)]
        assert len(chunks) == 2
        assert '"system/cpu@node-0"' in chunks[0]
        assert "loss" not in chunks[0]

    play(tmp_path, scene)


def test_a_stream_ends_with_a_job_that_is_deleted(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        job_id = await site.world.submit()
        job = await site.world.begun(job_id)
        stream = aiter(metric_chunks(site.world.engine.metrics, job_id, 0))
        waiting = asyncio.ensure_future(anext(stream))
        job.end()
        async with asyncio.timeout(60):
            await site.world.until(job_id, "Succeeded")
            await site.world.engine.delete(job_id)
            assert (await waiting).startswith(b"event: end")
        assert (await site.ask("GET", f"/jobs/{job_id}/metrics"))[0] == 404

    play(tmp_path, scene)
