"""The page Schedules in a real browser with a real server."""

import json
import re
from typing import Any

import pytest
from browser import Dashboard, settle
from playwright.sync_api import Locator, Page, Route, expect

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("dashboard")]


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_text(name, exact=True))


def schedule(name: str, result: str, **last: Any) -> dict[str, Any]:
    """A schedule that was due a minute ago, as the server shows it."""
    told = {"time": "2026-11-17T03:00:00Z", "result": result, "message": "", "job": None}
    return {
        "apiVersion": "trainway.dev/v1",
        "kind": "Schedule",
        "metadata": {"id": name, "name": name, "creationTimestamp": "2026-11-16T00:00:00Z"},
        "spec": {"cron": "0 3 * * *", "timezone": "UTC", "catchUp": "once", "overlap": "forbid"}
        | {"paused": False, "backend": "local", "kind": "Task", "objects": []},
        "status": {"next": "2100-01-01T03:00:00Z", "due": [], "waiting": None, "activeJobs": []}
        | {"last": {**told, "run": None, **last}},
    }


def test_a_schedule_is_written_paused_resumed_and_deleted(dashboard: Dashboard) -> None:
    page = dashboard.window().open("/schedules")
    expect(page.get_by_text("There are no schedules yet")).to_be_visible()
    page.get_by_role("link", name="write one here").click()
    expect(page.get_by_role("heading", level=1, name="New schedule")).to_be_visible()
    times = page.get_by_role("textbox", name=re.compile("^Times"))
    create = page.get_by_role("button", name="Create")
    expect(create).to_be_enabled()
    times.fill("0 25 * * *")
    expect(page.get_by_text("the hour '25' is wrong")).to_be_visible()
    expect(create).to_be_disabled()
    times.fill("30 4 1 1 *")
    page.get_by_label("Time zone").fill("Mars")
    expect(page.get_by_text("there is no time zone 'Mars'")).to_be_visible()
    page.get_by_label("Time zone").fill("Europe/Berlin")
    expect(page.get_by_text(re.compile("Next: .* 1 Jan .*, 04:30"))).to_be_visible()
    editor = page.get_by_role("textbox", name="The job as YAML")
    editor.fill("name: new-year\nrun: echo happy\nnodes: 2\n")
    expect(page.get_by_role("button", name=re.compile("^Line "))).to_be_visible()
    expect(create).to_be_disabled()
    editor.fill("name: new-year\nrun: echo happy\n")
    page.get_by_label("While the job before has not ended").select_option("replace")
    create.click()

    found = row(page, "new-year")
    expect(found).to_contain_text("30 4 1 1 *")
    expect(found).to_contain_text("Europe/Berlin")
    told = json.loads(dashboard.trainway.run("schedule", "show", "new-year", "-o", "json"))
    assert (told["spec"]["overlap"], told["spec"]["kind"]) == ("replace", "Task")
    page.get_by_role("button", name="Pause new-year").click()
    expect(found).to_contain_text("paused")
    page.get_by_role("button", name="Resume new-year").click()
    expect(page.get_by_role("button", name="Pause new-year")).to_be_visible()
    page.get_by_role("link", name="Jobs of new-year").click()
    expect(page).to_have_url(re.compile("label=trainway.dev%2Fschedule%3Dnew-year"))
    expect(page.get_by_role("heading", level=1, name="Jobs")).to_be_visible()
    page.go_back()
    page.get_by_role("button", name="Delete new-year").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete the schedule").click()
    expect(page.get_by_text("There are no schedules yet")).to_be_visible()
    assert "new-year" not in dashboard.trainway.run("schedule", "list", "-o", "name")


def test_what_became_of_the_last_time_is_shown(dashboard: Dashboard) -> None:
    job = dashboard.trainway.submit("--name", "of-a-schedule", "--", "true")
    items = [
        schedule("went-well", "Submitted", job=job),
        schedule("left-out", "Skipped", message="the job before has not ended"),
        schedule("gone", "Failed", message="there is no directory /data"),
    ]

    def answer(route: Route) -> None:
        route.fulfill(json={"items": items})

    window = dashboard.window()
    window.context.route("**/api/v1/schedules", answer)
    page = window.open("/schedules")
    expect(row(page, "left-out")).to_contain_text("the job before has not ended")
    expect(row(page, "gone")).to_contain_text("Failed")
    row(page, "went-well").get_by_role("link", name=re.compile("ago")).click()
    settle(page)
    expect(page.get_by_role("heading", level=1, name="of-a-schedule")).to_be_visible()
