"""Managed queues, over HTTP."""

import json
from pathlib import Path
from typing import Any

from trainway.engine.testing import jobset
from trainway.server.testing_site import Site, play


def _queue(name: str = "team", **spec: Any) -> bytes:
    obj = {"apiVersion": "trainway.dev/v1", "kind": "Queue", "metadata": {"name": name}}
    return json.dumps({**obj, "spec": spec}).encode()


def _job(name: str, **options: Any) -> bytes:
    return json.dumps({"objects": [jobset(name)], "options": options}).encode()


def test_the_life_of_a_queue(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        status, made = await site.ask("PUT", "/queues/team", _queue(quota={"jobs": 1}))
        assert (status, made["spec"]) == (200, {"quota": {"jobs": 1}})
        for name in ("a", "b"):
            status, _ = await site.ask("POST", "/jobs", _job(name, queue="team"))
            assert status == 201
        _, shown = await site.ask("GET", "/queues/team")
        (waiting,) = shown["status"]["jobs"]
        assert (waiting["name"], waiting["position"], waiting["reason"]) == ("b", 1, "QuotaReached")
        _, listed = await site.ask("GET", "/managed-queues")
        assert [item["metadata"]["name"] for item in listed["items"]] == ["default", "team"]
        assert "jobs" not in listed["items"][0]["status"]
        for verb, state in (("pause", "Paused"), ("drain", "Draining"), ("resume", "Open")):
            _, changed = await site.ask("POST", f"/queues/team/{verb}")
            assert changed["status"]["state"] == state
        status, refused = await site.ask("DELETE", "/queues/team")
        assert (status, refused["error"]["code"]) == (409, "conflict")
        assert "trainway queues drain team" in refused["error"]["hint"]
        body = json.dumps({"queue": "default", "priority": 3}).encode()
        for name in ("a", "b"):
            status, moved = await site.ask("POST", f"/jobs/{name}/queue", body)
            assert (status, moved["spec"]["queue"], moved["spec"]["priority"]) == (
                200, "default", 3,
            )  # fmt: skip
        status, _ = await site.ask("DELETE", "/queues/team")
        assert status == 200
        status, _ = await site.ask("GET", "/queues/team")
        assert status == 404

    play(tmp_path, scene)


def test_what_is_wrong_is_told_by_its_field(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        status, refused = await site.ask("PUT", "/queues/team", _queue(qouta={"jobs": 1}))
        assert status in (400, 422)
        assert "spec.qouta: Unknown field" in json.dumps(refused)
        status, refused = await site.ask("PUT", "/queues/other", _queue())
        assert (status, refused["error"]["field"]) == (400, "metadata.name")
        for name in ("", "../x", 5):
            obj = json.loads(_queue()) | {"metadata": {"name": name}}
            status, refused = await site.ask("PUT", "/queues/-", json.dumps(obj).encode())
            assert status == 422
            assert "metadata.name: Invalid value: " in refused["error"]["message"]
        status, refused = await site.ask("POST", "/jobs", _job("a", queue="nowhere"))
        assert (status, refused["error"]["field"]) == (404, "options.queue")
        await site.ask("POST", "/jobs", _job("a"))
        body = json.dumps({"priority": 1001}).encode()
        status, refused = await site.ask("POST", "/jobs/a/queue", body)
        assert (status, refused["error"]["field"]) == (400, "priority")
        said = refused["error"]["message"]
        assert said == "a priority must be between -1000 and 1000, and is 1001"
        objects = json.loads(_job("b"))["objects"]
        job = {"objects": objects, "options": {"priority": 1001}}
        for path, asked in (
            ("/jobs", job),
            ("/plans", job),
            ("/placements", {"candidates": [job]}),
            ("/schedules", {**job, "cron": "@daily"}),
        ):
            status, refused = await site.ask("POST", path, json.dumps(asked).encode())
            assert (status, refused["error"]["field"]) == (400, "options.priority"), path
            assert refused["error"]["message"] == said
        await site.ask("POST", "/queues/default/drain")
        status, refused = await site.ask("POST", "/jobs", _job("b"))
        assert (status, refused["error"]["field"]) == (409, "options.queue")
        assert "trainway queues resume default" in refused["error"]["hint"]

    play(tmp_path, scene)
