"""Buckets that are not to stay: when they go, with whose credentials, and what if they cannot."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord, JobSpec
from trainway.engine.run.record import RunRecord
from trainway.engine.storage import removal as module
from trainway.engine.storage.book import BUCKET_PREFIX
from trainway.engine.storage.record import BucketRecord
from trainway.engine.storage.removal import BucketRemoval
from trainway.engine.submission import Submission
from trainway.errors import ConflictError, UnavailableError
from trainway.json_types import Json
from trainway.server.testing_site import Site, play

MINE = {"name": "mine-1", "persistent": False}
TASK: Json = {
    "apiVersion": "trainway.dev/v1alpha1",
    "kind": "Task",
    "metadata": {"name": "t"},
    "spec": {
        "tasks": [
            {
                "task": {
                    "file_mounts": {"/x": {"name": "mine-1", "persistent": False}},
                    "run": "x",
                },
                "storage": {"secret": "t-storage", "variables": ["AWS_SECRET_ACCESS_KEY"]},
            }
        ]
    },
    "buckets": {"made": ["s3://mine-1"]},
}
SECRET: Json = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "t-storage"},
    "stringData": {"AWS_SECRET_ACCESS_KEY": "hush"},
}


def body(task: Json = TASK) -> bytes:
    return json.dumps({"objects": [SECRET, task]}).encode()


async def ended(site: Site, job: str) -> None:
    """Let a job end, which then uses nothing any more."""
    (await site.world.begun(job)).end()
    await site.world.until(job, "Succeeded")


def test_a_bucket_goes_with_the_last_job_that_uses_it(tmp_path: Path) -> None:
    asked: list[str] = []

    async def remove(uri: str, _variables: Mapping[str, str]) -> str:
        asked.append(uri)
        return ""

    async def scene(site: Site) -> None:
        engine = site.world.engine
        removal = BucketRemoval(engine.storage, engine.reading, remove)
        ids = []
        for _ in range(2):
            _, made = await site.ask("POST", "/jobs", body())
            ids.append(made["job"]["metadata"]["id"])
        await ended(site, ids[1])
        await removal.look()
        assert asked == [], "the other job uses it"
        await ended(site, ids[0])
        await removal.look()
        assert asked == ["s3://mine-1"]

    play(tmp_path, scene)


def test_a_failure_is_told_and_tried_again(tmp_path: Path) -> None:
    reasons = ["no such door", ""]
    asked: list[Mapping[str, str]] = []

    async def remove(_uri: str, variables: Mapping[str, str]) -> str:
        asked.append(variables)
        return reasons.pop(0)

    async def scene(site: Site) -> None:
        engine = site.world.engine
        removal = BucketRemoval(engine.storage, engine.reading, remove)
        _, made = await site.ask("POST", "/jobs", body())
        await ended(site, made["job"]["metadata"]["id"])
        await removal.look()
        _, listed = await site.ask("GET", "/storage")
        assert listed["items"][0]["state"] == "DELETE_FAILED: no such door"
        await removal.look()
        assert (await site.ask("GET", "/storage"))[1]["items"] == []
        assert asked == [{"AWS_SECRET_ACCESS_KEY": "hush"}] * 2

    play(tmp_path, scene)


def named(bucket: str) -> Json:
    """The same task with another bucket."""
    return json.loads(json.dumps(TASK).replace("mine-1", bucket))  # type: ignore[no-any-return]


def test_it_is_asked_again_right_before_a_bucket_is_removed(tmp_path: Path) -> None:
    asked: list[str] = []

    async def scene(site: Site) -> None:
        engine = site.world.engine
        again: list[str] = []

        async def remove(uri: str, _variables: Mapping[str, str]) -> str:
            asked.append(uri)
            if uri == "s3://mine-1":
                _, made = await site.ask("POST", "/jobs", body(named("mine-2")))
                again.append(made["job"]["metadata"]["id"])
            return ""

        removal = BucketRemoval(engine.storage, engine.reading, remove)
        for bucket in ("mine-1", "mine-2"):
            _, made = await site.ask("POST", "/jobs", body(named(bucket)))
            await ended(site, made["job"]["metadata"]["id"])
        await removal.look()
        assert asked == ["s3://mine-1"]
        await ended(site, again[0])
        await removal.look()
        assert asked == ["s3://mine-1", "s3://mine-2"]
        await removal.background.close()

    play(tmp_path, scene)


def test_a_bucket_that_is_being_removed_takes_no_jobs(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        engine = site.world.engine
        told: list[tuple[int, str]] = []

        async def remove(_uri: str, _variables: Mapping[str, str]) -> str:
            status, answer = await site.ask("POST", "/jobs", body())
            told.append((status, answer["error"]["code"]))
            with pytest.raises(ConflictError, match="the bucket mine-1 is being removed"):
                await engine.rerun(job)
            return ""

        removal = BucketRemoval(engine.storage, engine.reading, remove)
        _, made = await site.ask("POST", "/jobs", body())
        job = made["job"]["metadata"]["id"]
        await ended(site, job)
        await removal.look()
        assert told == [(409, "conflict")]
        assert (await site.ask("POST", "/jobs", body()))[0] == 201

    play(tmp_path, scene)


def test_a_bucket_is_used_by_a_job_that_is_about_to_be_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PAUSE_S", 0.0)

    async def scene(site: Site) -> None:
        engine, removed = site.world.engine, asyncio.Event()

        async def remove(_uri: str, _variables: Mapping[str, str]) -> str:
            removed.set()
            return ""

        removal = BucketRemoval(engine.storage, engine.reading, remove)
        _, made = await site.ask("POST", "/jobs", body())
        await ended(site, made["job"]["metadata"]["id"])

        async def refused(_submission: Submission) -> tuple[Json, list[str]]:
            await removal.look()
            assert not removed.is_set()
            raise UnavailableError("its place does not answer")

        monkeypatch.setattr(engine, "submit", refused)
        assert (await site.ask("POST", "/jobs", body()))[0] == 503
        await removed.wait()  # it looks again by itself
        await removal.background.close()

    play(tmp_path, scene)


def test_no_bucket_is_lost_between_it_and_its_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Mapping[str, str]] = []

    async def remove(_uri: str, variables: Mapping[str, str]) -> str:
        asked.append(variables)
        return ""

    async def scene(site: Site) -> None:
        engine = site.world.engine
        removal = BucketRemoval(engine.storage, engine.reading, remove)
        submit, stored = engine.submit, []

        async def killed(submission: Submission) -> tuple[Json, list[str]]:
            if submission.name != "early":
                stored.append((await submit(submission))[0]["metadata"]["id"])
            raise UnavailableError("the server is killed")

        monkeypatch.setattr(engine, "submit", killed)
        early = json.dumps({"objects": [SECRET, TASK], "options": {"name": "early"}}).encode()
        for request in (early, body({**TASK, "buckets": {"made": []}})):
            await site.ask("POST", "/jobs", request)
            await removal.look()
            _, listed = await site.ask("GET", "/storage")
            assert [(each["made"], each["job"]) for each in listed["items"]] == [(True, "")]
        await ended(site, stored[0])
        await removal.look()
        assert asked == [{"AWS_SECRET_ACCESS_KEY": "hush"}]

    play(tmp_path, scene)


def test_a_bucket_that_was_there_before_is_not_listed_without_a_job(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        wrong = json.dumps(
            {
                "objects": [SECRET, {**TASK, "buckets": {"made": []}}],
                "options": {"backend": "nowhere"},
            }
        )
        assert (await site.ask("POST", "/jobs", wrong.encode()))[0] >= 400
        assert (await site.ask("GET", "/storage"))[1]["items"] == []

    play(tmp_path, scene)


def test_a_job_without_buckets_asks_the_store_for_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(site: Site) -> None:
        def asked() -> list[BucketRecord]:
            raise AssertionError

        monkeypatch.setattr(site.world.store.storage, "buckets", asked)
        task = {"tasks": [{"task": {"run": "x"}}]}
        plain = json.dumps({"objects": [{**TASK, "spec": task, "buckets": {}}]})
        assert (await site.ask("POST", "/jobs", plain.encode()))[0] == 201

    play(tmp_path, scene)


def test_only_what_was_removed_is_forgotten(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        engine = site.world.engine

        async def remove(_uri: str, _variables: Mapping[str, str]) -> str:
            store = site.world.store.storage
            (record,) = store.buckets()
            store.put_bucket(replace(record, job="other"))
            return ""

        removal = BucketRemoval(engine.storage, engine.reading, remove)
        _, made = await site.ask("POST", "/jobs", body())
        await ended(site, made["job"]["metadata"]["id"])
        await removal.look()
        assert [each["job"] for each in await engine.storage.buckets()] == ["other"]

    play(tmp_path, scene)


def test_a_search_uses_its_bucket_between_two_trials(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        storage, label = site.world.store.storage, f"{BUCKET_PREFIX}/mine-1"
        bucket = BucketRecord("s3://mine-1", "a", True, False, "READY", "")
        storage.put_bucket(bucket)
        run = RunRecord(id="a", name="r", backend="local", created="", size=2, search="{}")
        trial = JobRecord(
            id="a",
            name="t",
            namespace="d",
            kind="Task",
            backend="local",
            labels=json.dumps({label: "used"}),
            run="a",
            phase=Phase.SUCCEEDED,
        )
        site.world.store.add_all([(trial, JobSpec([], {}, {}, []), [])], run)
        assert not storage.is_left_over(bucket, label)
        site.world.store.runs.change(replace(run, outcome="{}"))
        assert storage.is_left_over(bucket, label)
        assert storage.newest_user(label) == "a"

    play(tmp_path, scene)


def test_a_schedule_uses_its_bucket_until_it_is_deleted(tmp_path: Path) -> None:
    asked: list[str] = []

    async def remove(uri: str, _variables: Mapping[str, str]) -> str:
        asked.append(uri)
        return ""

    async def scene(site: Site) -> None:
        engine = site.world.engine
        removal = BucketRemoval(engine.storage, engine.reading, remove)
        nightly = {**json.loads(body()), "name": "nightly", "cron": "0 3 * * *"}
        code, _ = await site.ask("POST", "/schedules", json.dumps(nightly).encode())
        assert code == 201
        (listed,) = (await site.ask("GET", "/storage"))[1]["items"]
        assert (listed["uri"], listed["made"]) == ("s3://mine-1", True)
        once = {**TASK, "buckets": {"made": []}}
        _, made = await site.ask("POST", "/jobs", body(once))
        await ended(site, made["job"]["metadata"]["id"])
        await removal.look()
        assert asked == [], "the schedule fires again"
        assert (await site.ask("DELETE", "/schedules/nightly"))[0] == 200
        await removal.look()
        assert asked == ["s3://mine-1"]
        await removal.background.close()

    play(tmp_path, scene)


def test_a_bucket_that_was_there_before_stays(tmp_path: Path) -> None:
    async def remove(uri: str, variables: Mapping[str, str]) -> str:
        raise AssertionError((uri, variables))

    async def scene(site: Site) -> None:
        engine = site.world.engine
        removal = BucketRemoval(engine.storage, engine.reading, remove)
        _, made = await site.ask("POST", "/jobs", body({**TASK, "buckets": {"made": []}}))
        await ended(site, made["job"]["metadata"]["id"])
        await removal.look()

    play(tmp_path, scene)
