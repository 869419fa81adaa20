"""Pages that are open while jobs end: what they go on asking for, and what they still offer."""

import pytest
from browser import Dashboard
from gate import Gate
from playwright.sync_api import expect

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("dashboard")]

HALF_A_MINUTE_MS = 30_000


def test_a_log_is_followed_while_its_job_writes_and_then_left_alone(
    dashboard: Dashboard, gate: Gate
) -> None:
    job = dashboard.trainway.submit("--name", "followed", "--", *gate.command("followed"))
    gate.next()
    window = dashboard.window()
    page = window.context.new_page()
    page.clock.install()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    window.go(page, f"/jobs/{job}?tab=logs")
    switch, log = page.get_by_role("switch", name="Follow"), page.get_by_role("log")
    expect(switch).to_be_checked()
    page.get_by_role("button", name="Suspend").click()
    expect(page.get_by_text("Its log goes on when it is resumed")).to_be_visible()
    expect(switch).to_be_disabled()
    page.get_by_role("button", name="Resume").click()
    visitor = gate.next()
    expect(switch).to_be_checked()
    visitor.let_go()
    expect(page.get_by_text("The job has ended")).to_be_visible()
    expect(switch).not_to_be_checked()
    expect(log).to_contain_text("followed through the gate")

    def windows() -> int:
        return sum("/logs/window" in url for url in asked)

    before = windows()
    for _ in range(3):
        page.clock.run_for(HALF_A_MINUTE_MS)
    assert windows() <= before + 1  # a last look, for lines that were on their way


def test_what_is_offered_for_selected_jobs_follows_their_phases(
    dashboard: Dashboard, gate: Gate
) -> None:
    trainway = dashboard.trainway
    jobs = [trainway.submit("--name", "chosen", "--", *gate.command()) for _ in range(2)]
    visitors = [gate.next() for _ in jobs]
    window = dashboard.window()
    window.forgive("status of 404")  # of the job that is deleted
    page = window.open("/jobs?text=chosen")
    for checkbox in page.get_by_role("checkbox", name="Select chosen").all():
        checkbox.check()
    cancel = page.get_by_role("button", name="Cancel", exact=True)
    expect(cancel).to_be_enabled()
    for visitor in visitors:
        visitor.let_go()
    expect(cancel).to_be_disabled()
    expect(page.get_by_role("button", name="Suspend")).to_be_disabled()
    expect(page.get_by_role("button", name="Delete")).to_be_enabled()
    expect(page.get_by_text("2 jobs selected")).to_be_visible()
    trainway.run("jobs", "delete", jobs[0])
    expect(page.get_by_text("1 job selected")).to_be_visible()
