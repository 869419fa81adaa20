"""Schedules, over HTTP."""

import json
from pathlib import Path
from typing import Any

from trainway.engine.testing import jobset
from trainway.server.testing_site import Site, play


def _body(**more: Any) -> bytes:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    secret |= {"stringData": {"k": "hush"}}
    objects = [jobset("train"), secret]
    return json.dumps({"cron": "0 3 * * *", "name": "nightly", "objects": objects, **more}).encode()


def test_the_life_of_a_schedule(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        status, made = await site.ask("POST", "/schedules", _body(timezone="Europe/Berlin"))
        assert (status, made["schedule"]["spec"]["timezone"]) == (201, "Europe/Berlin")
        status, again = await site.ask("POST", "/schedules", _body())
        assert (status, again["error"]["code"]) == (409, "conflict")
        _, listed = await site.ask("GET", "/schedules")
        assert [item["metadata"]["name"] for item in listed["items"]] == ["nightly"]
        _, shown = await site.ask("GET", "/schedules/nightly")
        assert "hush" not in json.dumps(shown)
        assert shown["spec"]["objects"][0]["kind"] == "JobSet"
        _, paused = await site.ask("POST", "/schedules/nightly/pause")
        assert paused["status"]["next"] is None
        _, resumed = await site.ask("POST", "/schedules/nightly/resume")
        assert resumed["status"]["next"] is not None
        status, _ = await site.ask("DELETE", "/schedules/nightly")
        assert status == 200
        status, _ = await site.ask("GET", "/schedules/nightly")
        assert status == 404

    play(tmp_path, scene)


def test_what_is_wrong_is_told_by_its_field(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        status, refused = await site.ask("POST", "/schedules", _body(cron="0 25 * * *"))
        assert (status, refused["error"]["field"]) == (400, "cron")
        assert "the hour '25' is wrong" in refused["error"]["message"]
        status, refused = await site.ask("POST", "/schedules", _body(timezone="Mars"))
        assert (status, refused["error"]["field"]) == (400, "timezone")
        status, _ = await site.ask("POST", "/schedules", _body(overlap="perhaps"))
        assert status in (400, 422)
        assert (await site.ask("GET", "/schedules"))[1] == {"items": []}

    play(tmp_path, scene)
