"""Schedules, over HTTP."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from trainway.engine.testing import jobset
from trainway.server.routes.schedules import CronRequest, cron_report
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


@dataclass(frozen=True)
class Case:
    cron: str
    timezone: str
    moments: list[str]
    field: str = ""


@pytest.mark.parametrize(
    "case",
    [
        Case("0 3 * * *", "UTC", ["2026-11-18T03:00", "2026-11-19T03:00", "2026-11-20T03:00"]),
        Case(
            "0 3 * * *",
            "Europe/Berlin",
            ["2026-11-18T02:00", "2026-11-19T02:00", "2026-11-20T02:00"],
        ),
        Case("0 25 * * *", "UTC", [], "cron"),
        Case("", "UTC", [], "cron"),
        Case("@daily", "Mars", [], "timezone"),
        Case("0 0 30 2 *", "UTC", [], "cron"),
    ],
)
def test_times_are_checked_while_they_are_written(case: Case) -> None:
    now = datetime(2026, 11, 17, 21, tzinfo=UTC)
    report = cron_report(CronRequest(cron=case.cron, timezone=case.timezone), now)
    assert [moment[:16] for moment in report["next"]] == case.moments
    assert report["field"] == case.field
    assert bool(report["problem"]) == bool(case.field)


def test_times_are_checked_over_http_and_nothing_is_stored(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        body = json.dumps({"cron": "*/5 * * * *"}).encode()
        status, report = await site.ask("POST", "/schedules/check", body)
        assert (status, len(report["next"])) == (200, 3)
        assert (await site.ask("GET", "/schedules"))[1] == {"items": []}

    play(tmp_path, scene)
