"""The pages Clusters and Settings, and scaling, in a real browser with a real server."""

import os
import re
from pathlib import Path

import pytest
from browser import Dashboard, logged_in, settle
from gate import Gate
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("dashboard")]
ALL_CPUS = ("--cpus", str(len(os.sched_getaffinity(0))))


def confirm(page: Page, button: str) -> None:
    page.get_by_role("dialog").get_by_role("button", name=button).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_cluster_is_watched_stopped_started_and_taken_down(
    dashboard: Dashboard, gate: Gate
) -> None:
    page = dashboard.window().open("/clusters")
    expect(page.get_by_text("trainway launch -c dev")).to_be_visible()
    trainway = dashboard.trainway
    run = ("--cpus", "1", "-d", "-y", "--")
    trainway.run("launch", "-c", "lab", *run, *gate.command("one"))
    first = gate.next()
    trainway.run("exec", "lab", "-d", "--cpus", "1", "--", *gate.command("two"))
    page.get_by_role("link", name="lab").click()
    settle(page)
    queue = page.get_by_role("region", name="Queue").get_by_role("row")
    expect(queue.nth(1)).to_contain_text("Running")
    expect(queue.nth(2)).to_contain_text("Queued")
    expect(page.get_by_text("1 job runs, 1 job waits, 0 jobs have ended")).to_be_visible()
    first.let_go()
    second = gate.next()
    expect(queue.nth(1)).to_contain_text("2")
    expect(queue.nth(2)).to_contain_text("Succeeded")
    second.let_go()
    expect(page.get_by_text("0 jobs run, 0 jobs wait, 2 jobs have ended")).to_be_visible()

    page.get_by_role("button", name="Autostop…").click()
    page.get_by_label("Minutes without a job").fill("45")
    confirm(page, "Set")
    expect(page.get_by_text("after 45 min without a job")).to_be_visible()
    trainway.run("exec", "lab", "-d", "--cpus", "1", "--", *gate.command("three"))
    gate.next()
    expect(queue.nth(1)).to_contain_text("Running")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_role("dialog").get_by_text(re.compile(r"^3: .*Running"))).to_be_visible()
    confirm(page, "Stop the cluster")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("UP", exact=True)).to_be_visible()
    page.get_by_role("button", name="Take down").click()
    confirm(page, "Take down the cluster")
    expect(page.get_by_text("There are no clusters yet")).to_be_visible()


def test_a_browser_is_logged_out_by_another_one(dashboard: Dashboard) -> None:
    page = dashboard.window().open("/settings")
    sessions = page.get_by_role("region", name="Browsers that are logged in")
    expect(sessions.get_by_text("(this one)")).to_have_count(1)
    other = dashboard.browser.new_context()
    try:
        away = other.new_page()
        dashboard.trainway.run("run", "--name", "watched", "--", "true")
        away.goto(dashboard.trainway.run("dashboard", "--no-open").strip())
        settle(away)
        away.goto(f"{dashboard.address}/dashboard/jobs/watched")
        settle(away)
        page.reload()
        settle(page)
        page.get_by_role("button", name=re.compile("Log out 1 other browser")).click()
        confirm(page, "Log them out")
        expect(sessions.get_by_role("row")).to_have_count(2)
        dashboard.trainway.run("run", "--", "true")  # what is told then is not told there any more
        again = away.get_by_role("link", name="Log in again")
        expect(again).to_have_attribute("href", re.compile("next=%2Fdashboard%2Fjobs%2F"))
        expect(away.get_by_text("What is shown may be old")).to_be_visible()
        away.goto(f"{dashboard.address}/dashboard/jobs")
        expect(away.get_by_text("Log in to Trainway")).to_be_visible()
    finally:
        other.close()


def test_who_replaces_the_token_is_logged_out_and_told_how_to_come_back(
    dashboard: Dashboard, tmp_path: Path
) -> None:
    with logged_in(dashboard.browser, tmp_path / "home") as own:
        page = own.window().open("/settings")
        page.get_by_role("button", name="Replace the token…").click()
        confirm(page, "Replace it")
        expect(page.get_by_text("The server has another token")).to_be_visible()
        token = own.trainway.run("server", "token", "show").strip()
        assert token not in page.content()
        page.get_by_role("link", name="log in again").click()
        page.get_by_label(re.compile("token of the server")).fill(token)
        page.get_by_role("button", name="Log in").click()
        settle(page)
        expect(page.get_by_text("(this one)")).to_be_visible()
        own.close_windows()


def test_theme_and_a_test_of_a_notification(dashboard: Dashboard) -> None:
    config = dashboard.trainway.home / "config.yaml"
    config.write_text("notify:\n  nobody:\n    url: http://127.0.0.1:9/secret-path\n")
    try:
        page = dashboard.window(color_scheme="light").open("/settings")
        page.get_by_role("radio", name="Dark").check()
        expect(page.locator("html")).to_have_class(re.compile("pf-v6-theme-dark"))
        page.get_by_role("radio", name="As the system").check()
        expect(page.locator("html")).not_to_have_class(re.compile("pf-v6-theme-dark"))
        page.get_by_role("button", name="Send a test").click()
        expect(page.get_by_text(re.compile("It did not arrive"))).to_be_visible()
        assert "secret-path" not in page.content()
    finally:
        config.unlink()


def test_a_job_that_waits_is_scaled_from_its_page_and_from_the_list(
    dashboard: Dashboard, gate: Gate
) -> None:
    trainway = dashboard.trainway
    trainway.submit("--name", "holds", *ALL_CPUS, "--", *gate.command("holds"))
    holds = gate.next()
    trainway.submit("--name", "grows", "--cpus", "0.1", "--", *gate.command("grows"))
    page = dashboard.window().open("/jobs/grows")
    page.get_by_role("button", name="Scale nodes…").click()
    page.get_by_label("Nodes").fill("2")
    confirm(page, "Scale")
    page.goto(f"{dashboard.address}/dashboard/jobs?text=grows")
    settle(page)
    page.get_by_role("checkbox", name=re.compile("grows")).check()
    page.get_by_role("button", name="Scale nodes…").click()
    expect(page.get_by_text("It has 2 nodes now.")).to_be_visible()
    page.get_by_label("Nodes").fill("3")
    confirm(page, "Scale")
    holds.let_go()
    visitors = [gate.next() for _ in range(3)]
    for visitor in visitors:
        visitor.let_go()
    trainway.run("jobs", "wait", "grows")
