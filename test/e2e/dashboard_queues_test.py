"""The queues of the server on the dashboard, in a real browser with real jobs."""

import re
from pathlib import Path

import pytest
from browser import Dashboard, settle
from gate import Gate
from playwright.sync_api import Route, expect

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("dashboard")]

QUEUE = """apiVersion: trainway.dev/v1
kind: Queue
metadata: {name: team}
spec: {quota: {jobs: 1}, cohort: research}
"""


def test_a_queue_is_watched_paused_drained_and_deleted(
    dashboard: Dashboard, gate: Gate, tmp_path: Path
) -> None:
    page = dashboard.window().open("/queues")
    expect(page.get_by_text("trainway queues apply -f FILE.yaml")).to_be_visible()
    file = tmp_path / "queue.yaml"
    file.write_text(QUEUE)
    trainway = dashboard.trainway
    trainway.run("queues", "apply", "-f", str(file))
    trainway.submit("--name", "first", "--queue", "team", "--", *gate.command("first"))
    first = gate.next()
    trainway.submit("--name", "second", "--queue", "team", "--", *gate.command("second"))
    page.reload()
    settle(page)
    queues = page.get_by_role("region", name="Queues of this server")
    expect(queues).to_contain_text("jobs: 1 of 1 used")
    queues.get_by_role("link", name="team").click()
    waiting = page.get_by_role("region", name="Jobs that wait")
    expect(waiting.get_by_role("row").nth(1)).to_contain_text("second")
    expect(waiting.get_by_role("row").nth(1)).to_contain_text(re.compile("quota|jobs"))
    expect(page.get_by_text("research", exact=True)).to_be_visible()

    waiting.get_by_role("link", name="second").click()
    page.get_by_role("tab", name="Resources and queue").click()
    page.get_by_role("link", name="team", exact=True).click()

    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".tw-heading").get_by_text("Paused")).to_be_visible()
    first.let_go()
    trainway.run("jobs", "wait", "first")
    page.get_by_role("button", name="Resume").click()
    gate.next().let_go()
    trainway.run("jobs", "wait", "second")
    expect(page.get_by_text("No job waits here.")).to_be_visible()
    page.get_by_role("button", name="Drain").click()
    expect(page.locator(".tw-heading").get_by_text("Draining")).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete the queue").click()
    expect(page.get_by_role("heading", level=1, name="Queues")).to_be_visible()
    assert "team" not in trainway.run("queues", "list", "-o", "name")


def test_a_list_that_is_cut_says_so_and_a_failed_reading_empties_none(dashboard: Dashboard) -> None:
    window = dashboard.window()
    job = {"id": "a", "name": "first", "position": 1, "priority": 0, "user": "", "backend": "local"}
    job |= {
        "phase": "Queued",
        "reason": "",
        "message": "",
        "creationTimestamp": "2026-11-19T05:00Z",
    }

    def crowd(route: Route) -> None:
        queue = route.fetch().json()
        queue["status"] |= {"waiting": 1500, "jobs": [job]}
        route.fulfill(json=queue)

    window.context.route("**/api/v1/queues/default", crowd)
    page = window.open("/queues/default")
    expect(page.get_by_text("The first 1 of 1,500 are shown.")).to_be_visible()
    window.go(page, "/queues")
    queues = page.get_by_role("region", name="Queues of this server")
    expect(queues.get_by_role("link", name="default")).to_be_visible()
    window.forgive("status of 400")
    window.context.route("**/managed-queues", lambda route: route.fulfill(status=400, json={}))
    dashboard.trainway.run("run", "--", "true")  # of which the page hears, and reads again
    expect(page.get_by_text("The queues of this server could not be read")).to_be_visible()
    expect(queues.get_by_role("link", name="default")).to_be_visible()
