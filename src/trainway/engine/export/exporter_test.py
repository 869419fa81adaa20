"""Outputs go where jobs want them, once these have succeeded, and in spite of failures."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.backends.base import Handle
from trainway.backends.testing import FakeBackend
from trainway.engine.export.export import (
    FOLLOWERS,
    MOST_ATTEMPTS,
    Export,
    ExportState,
    export_in,
    pause_after,
)
from trainway.engine.export.terms import export_column
from trainway.engine.export.uploading import Uploaded, answer, environment
from trainway.engine.testing import World, act, jobset
from trainway.errors import ConflictError, UsageError
from trainway.jobset.labels import EXPORT
from trainway.json_types import Json

URI = "s3://bucket/run"
DONE = Uploaded(2, 30)


class Bucket:
    """Takes outputs, after it has answered otherwise as often as it should."""

    def __init__(self, *before: Uploaded) -> None:
        self.before = list(before)
        self.got: list[tuple[str, str]] = []
        self.hangs = False

    async def __call__(self, folder: Path, uri: str, environ: Mapping[str, str]) -> Uploaded:
        self.got.append((folder.name, uri))
        assert environ == {"A": "b"}
        if self.hangs:
            await asyncio.Event().wait()
        return self.before.pop(0) if self.before else DONE


async def no_pause(_seconds: float) -> None:
    await asyncio.sleep(0)


def opened(world: World, bucket: Bucket) -> None:
    world.engine.exporter.send = bucket
    world.engine.exporter._sleep = no_pause


async def succeeded(world: World, **spec: int) -> str:
    job_id = await world.submit(metadata={"annotations": {EXPORT: URI}}, spec=spec)
    job = await world.begun(job_id)
    job.run()
    await world.until(job_id, "Running")
    job.end()
    await world.until(job_id, "Succeeded")
    return job_id


async def exported(world: World, job_id: str) -> Json:
    async with asyncio.timeout(60):
        while True:
            status = (await world.engine.reading.get(job_id))["status"]
            if status["export"]["state"] in ("Done", "Failed"):
                assert status["phase"] == "Succeeded"
                found: Json = status["export"]
                return found
            await asyncio.sleep(0)


def test_an_output_is_exported_when_the_job_has_succeeded() -> None:
    bucket = Bucket()

    async def scene(world: World) -> None:
        opened(world, bucket)
        job_id = await succeeded(world)
        found = await exported(world, job_id)
        assert found == {"uri": URI, "state": "Done", "files": 2, "bytes": 30}
        reasons = await world.reasons(job_id)
        assert reasons[-2:] == ["Exporting", "Exported"]
        async with asyncio.timeout(60):
            while not world.engine.is_idle:
                await asyncio.sleep(0.001)

    asyncio.run(act(scene, World()))
    assert bucket.got == [("output", URI)]


def test_a_failure_is_the_exports_own_and_passing_ones_are_tried_again() -> None:
    bucket = Bucket(Uploaded(error="no answer"), Uploaded(error="denied", is_final=True))

    async def scene(world: World) -> None:
        opened(world, bucket)
        job_id = await succeeded(world)
        assert await exported(world, job_id) == {"uri": URI, "state": "Failed", "message": "denied"}
        reasons = await world.reasons(job_id)
        assert reasons[-3:] == ["Exporting", "ExportDelayed", "ExportFailed"]

    asyncio.run(act(scene, World()))
    assert len(bucket.got) == 2


def test_it_is_given_up_at_last() -> None:
    bucket = Bucket(*[Uploaded(error="no answer")] * MOST_ATTEMPTS)

    async def scene(world: World) -> None:
        opened(world, bucket)
        found = await exported(world, await succeeded(world))
        assert found["state"] == "Failed"

    asyncio.run(act(scene, World()))
    assert len(bucket.got) == MOST_ATTEMPTS


def test_the_next_server_goes_on() -> None:
    first, second = Bucket(), Bucket()
    first.hangs = True

    async def killed(world: World) -> None:
        opened(world, first)
        await succeeded(world)
        async with asyncio.timeout(60):
            while not first.got:
                await asyncio.sleep(0.001)
        record = world.store.get("demo")
        export = export_in(record)
        assert export is not None
        assert export.state is ExportState.UPLOADING
        await world.engine.exporter.close()
        again = World(world.backend, world.store)
        opened(again, second)
        await again.engine.exporter.start()
        assert (await exported(again, record.id))["state"] == "Done"
        await again.engine.exporter.close()

    asyncio.run(act(killed, World()))
    assert len(second.got) == 1


def test_files_are_not_removed_before_they_are_exported() -> None:
    bucket = Bucket()
    bucket.hangs = True

    async def scene(world: World) -> None:
        opened(world, bucket)
        await succeeded(world, ttlSecondsAfterFinished=0)
        (expired,) = world.store.expiring()
        with pytest.raises(ConflictError, match="being exported"):
            await world.engine._retention._expire(expired)
        assert world.backend.deleted == []

    asyncio.run(act(scene, World()))


def test_a_job_that_fails_exports_nothing() -> None:
    bucket = Bucket()

    async def scene(world: World) -> None:
        opened(world, bucket)
        job_id = await world.submit(metadata={"annotations": {EXPORT: URI}})
        job = await world.begun(job_id)
        job.run()
        await world.until(job_id, "Running")
        job.end(succeeded=False)
        shown = await world.until(job_id, "Failed")
        assert shown["status"]["export"] == {"uri": URI, "state": "Skipped"}

    asyncio.run(act(scene, World()))
    assert bucket.got == []


@pytest.mark.parametrize("uri", ["file:///tmp/x", "hf://a/b", "run", "s3://b/../c"])
def test_what_is_no_bucket_is_refused_at_once(uri: str) -> None:
    async def scene(world: World) -> None:
        with pytest.raises(UsageError) as raised:
            await world.submit(metadata={"annotations": {EXPORT: uri}})
        assert EXPORT in (raised.value.field or "")

    asyncio.run(act(scene, World()))


@pytest.mark.parametrize("uri", [URI, f"{URI}/"])
def test_each_job_of_a_run_has_a_folder_of_its_own(uri: str) -> None:
    job = jobset(metadata={"annotations": {EXPORT: uri}})

    column = export_column([job], World().backend, {"id": "1"}, "trial-3")

    assert json.loads(column or "")["uri"] == f"{URI}/trial-3"


class Far(FakeBackend):
    """Has the output of some jobs only."""

    def why_not_brought(self, handle: Handle) -> str:
        return "" if handle.get("held") else "its pods are gone"

    async def bring(self, handle: Handle) -> None:
        raise AssertionError(handle)


def test_what_is_brought_is_exported_and_nothing_else() -> None:
    job = jobset(metadata={"annotations": {EXPORT: URI}})
    assert export_column([job], Far(), {"held": True})
    with pytest.raises(UsageError, match="the output cannot be exported: its pods are gone"):
        export_column([job], Far(), {})


@dataclass(frozen=True)
class Case:
    printed: bytes
    found: Uploaded


@pytest.mark.parametrize(
    "case",
    [
        Case(b'{"files": 2, "bytes": 30}\n', DONE),
        Case(b'x\n{"error": "no", "final": true}\n', Uploaded(error="no", is_final=True)),
        Case(b"", Uploaded(error="the upload ended with 9")),
        Case(b"[]\n", Uploaded(error="the upload ended with 9")),
    ],
)
def test_what_the_upload_says(case: Case) -> None:
    assert answer(case.printed, 9) == case.found


def test_credentials_of_the_job_take_the_place_of_the_servers() -> None:
    own = {"PATH": "/bin", "AWS_PROFILE": "server"}
    assert environment(own, {"LANG": "C"}) == own
    given = {"AWS_ACCESS_KEY_ID": "id", "HOME": "/x"}
    assert environment(own, given) == {"PATH": "/bin", "AWS_ACCESS_KEY_ID": "id"}


def test_states_follow_each_other() -> None:
    for state, followers in FOLLOWERS.items():
        for other in ExportState:
            export = Export(URI, state)
            if other in followers:
                assert export.became(other).state is other
            else:
                with pytest.raises(ValueError, match="cannot become"):
                    export.became(other)
    assert [pause_after(n) for n in (1, 2, 20)] == [5.0, 10.0, 300.0]
