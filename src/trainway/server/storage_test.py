"""Volumes and buckets, over HTTP."""

import json
from pathlib import Path
from typing import Any

from trainway.backends.testing import FakeBackend
from trainway.engine.testing import jobset
from trainway.json_types import Json
from trainway.server.testing_site import Site, play


def volume(name: str = "corpus", **fields: Any) -> bytes:
    config = {"host_path": "/srv/corpus"}
    return json.dumps({"name": name, "type": "directory", "config": config, **fields}).encode()


def job(name: str, claim: str) -> bytes:
    made: Json = jobset(name)
    pod = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pod["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]
    return json.dumps({"objects": [made]}).encode()


def pool() -> FakeBackend:
    made = FakeBackend()
    made.name = "ssh/lab"
    return made


def test_the_life_of_a_volume(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        status, made = await site.ask("PUT", "/volumes/corpus", volume(infra="local"))
        assert (status, made["hostPath"], made["infra"]) == (200, "/srv/corpus", "local")
        status, _ = await site.ask("POST", "/jobs", job("reader", "corpus"))
        assert status == 201
        _, listed = await site.ask("GET", "/volumes")
        assert [(each["name"], each["usedBy"]) for each in listed["items"]] == [
            ("corpus", ["reader"])
        ]
        status, refused = await site.ask("DELETE", "/volumes/corpus")
        assert (status, refused["error"]["code"]) == (409, "conflict")
        moved = volume(config={"host_path": "/elsewhere"})
        assert (await site.ask("PUT", "/volumes/corpus", moved))[0] == 409
        await site.ask("POST", "/jobs/reader/cancel")
        status, _ = await site.ask("PUT", "/volumes/other", volume("other"))
        assert status == 200
        assert (await site.ask("DELETE", "/volumes/other"))[0] == 200
        assert (await site.ask("DELETE", "/volumes/other"))[0] == 404

    play(tmp_path, scene)


def test_what_is_wrong_with_a_volume(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        bad = {
            "name: Invalid": volume("Upper"),
            "config.host_path: Invalid": volume(config={"host_path": "a/../b"}),
            "infra: Invalid": volume(infra="k8s/x"),
            "size: Required": volume(type="k8s-pvc"),
            "sise: Unknown field": volume(sise=1),
            "type: Forbidden": volume(type="runpod-network-volume"),
        }
        for message, body in bad.items():
            name = json.loads(body)["name"]
            status, refused = await site.ask("PUT", f"/volumes/{name}", body)
            assert status in (400, 422), message
            assert message in json.dumps(refused), refused
        status, _ = await site.ask("PUT", "/volumes/other", volume())
        assert status == 400
        far = volume("far", infra="ssh/lab")
        status, refused = await site.ask("PUT", "/volumes/far", far)
        assert (status, "there is no pool 'lab'" in json.dumps(refused)) == (404, True), refused
        site.world.engine.registry.put(pool())
        assert (await site.ask("PUT", "/volumes/far", far))[0] == 200
        _, refused = await site.ask("POST", "/jobs", job("lost", "far"))
        assert "it is on ssh/lab, but the job goes to" in json.dumps(refused)

    play(tmp_path, scene)


def test_named_buckets_are_remembered(tmp_path: Path) -> None:
    storage = {"name": "mine-1", "mode": "MOUNT", "persistent": False}
    item = {"task": {"file_mounts": {"/x": storage}, "run": "true"}}
    task = {
        "apiVersion": "trainway.dev/v1alpha1",
        "kind": "Task",
        "metadata": {"name": "t"},
        "spec": {"tasks": [item]},
        "buckets": True,
    }

    async def scene(site: Site) -> None:
        body = json.dumps({"objects": [task]}).encode()
        status, made = await site.ask("POST", "/jobs", body)
        assert status == 201, made
        _, listed = await site.ask("GET", "/storage")
        (found,) = listed["items"]
        assert (found["uri"], found["job"]) == ("s3://mine-1", made["job"]["metadata"]["id"])
        assert (found["store"], found["persistent"], found["state"]) == ("S3", False, "READY")
        odd = {"task": {"file_mounts": {"/x": {"name": "x" * 999}}, "run": "true"}}
        strange = {**task, "metadata": {"name": "odd"}, "spec": {"tasks": [odd]}}
        status, _ = await site.ask("POST", "/jobs", json.dumps({"objects": [strange]}).encode())
        assert status == 201
        assert len((await site.ask("GET", "/storage"))[1]["items"]) == 1
        forget = json.dumps({"uri": "s3://mine-1"}).encode()
        assert (await site.ask("POST", "/storage/forget", forget))[0] == 200
        assert (await site.ask("POST", "/storage/forget", forget))[0] == 404

    play(tmp_path, scene)
