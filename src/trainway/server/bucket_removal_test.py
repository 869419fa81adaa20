"""Buckets that are not to stay: when they go, with whose credentials, and what if they cannot."""

import json
from collections.abc import Mapping
from pathlib import Path

from trainway.engine.storage.removal import BucketRemoval
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
