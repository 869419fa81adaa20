"""A job whose every word is an attack: the dashboard shows it as text, on each of its pages.

A page that took any of it for HTML would have an element with our mark, or have run our script; or
the policy of the server would have stopped that, which the browser says on its console.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest
from browser import Dashboard, settle
from dashboard_pages import job_pages
from playwright.sync_api import Page, Route, expect

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("dashboard")]

MARKUP: Final = "<img src=x onerror=window.hit=1><script>window.hit=1</script><b class=hit>"
TURNED: Final = "\u202egnissel\u202c"
"""Text that an override shows from right to left."""
TERMINAL: Final = "\033]0;title\007\033[2J\033[31m"
HOSTILE: Final = f"{MARKUP}{TURNED}"
PROGRAM: Final = f"""
import os, pathlib, sys
text = {HOSTILE!r}
print({TERMINAL!r} + text + " in a line", flush=True)
print("metric <b/class=hit>: 0.5 step=1", flush=True)
pathlib.Path(os.environ["TRAINWAY_OUTPUT_DIR"], "<b class=hit>file").write_text("x")
sys.exit(text + " at the end")
"""
PATTERN: Final = r"metric (?P<name>\S+): (?P<value>[\d.]+) step=(?P<step>\d+)"


@dataclass(frozen=True)
class Attack:
    job: str
    other: str


@pytest.fixture(scope="module")
def attack(shared_dashboard: Dashboard) -> Attack:
    trainway = shared_dashboard.trainway
    words = ["--metrics-from-logs", PATTERN, "--note", HOSTILE, "--env", f"TEXT={HOSTILE}"]
    grid = ["--grid", f"TEXT={MARKUP},2"]
    command = ["--", "python3", "-c", PROGRAM]
    trainway.run("run", "--name", "hostile", *words, *command, code=4)
    trainway.run("run", "--name", "hostile-run", *grid, *words[:4], *command, code=4)
    jobs = trainway.json("jobs", "list")["items"]
    ids = {job["metadata"]["name"]: job["metadata"]["id"] for job in jobs}
    return Attack(ids["hostile"], ids["hostile-run-0"])


def check(page: Page) -> None:
    """Nothing of it became part of the page."""
    settle(page)
    assert page.evaluate("window.hit") is None
    assert page.locator(".hit").count() == 0
    assert page.locator("img[src=x]").count() == 0
    assert page.title().endswith("Trainway")


def test_every_tab_of_its_page_shows_it_as_text(dashboard: Dashboard, attack: Attack) -> None:
    window = dashboard.window()
    page = window.context.new_page()
    for entry in job_pages(attack.job):
        window.go(page, entry.path)
        expect(page.get_by_text(HOSTILE).first).to_be_attached()  # the note
        if entry.name == "job-logs":
            line = page.get_by_role("log").get_by_text("in a line")
            expect(line).to_contain_text(f"{MARKUP}\u2426gnissel\u2426 in a line")
            expect(line).not_to_contain_text("[2J")
        if entry.name == "job-progress":
            expect(page.get_by_text("<b/class=hit>").first).to_be_visible()
        if entry.name == "job-files":
            expect(page.get_by_text("<b class=hit>file")).to_be_visible()
        if entry.name == "job-yaml":
            expect(page.get_by_label("What was written")).to_contain_text(MARKUP)
        check(page)


def test_lists_and_comparisons_show_it_as_text(dashboard: Dashboard, attack: Attack) -> None:
    window = dashboard.window()
    page = window.open("/jobs?text=hostile&group=none")
    page.get_by_role("button", name="Columns").click()
    for column in ("Labels", "Parameters"):
        page.get_by_text(column, exact=True).last.click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("table").get_by_text(f"TEXT={MARKUP}")).to_be_visible()
    check(page)
    window.go(page, f"/compare?jobs={attack.job},{attack.other}")
    expect(page.get_by_text("<b/class=hit> last")).to_be_visible()
    expect(page.get_by_role("region", name="Comparison").get_by_text(MARKUP).first).to_be_visible()
    check(page)
    window.go(page, "/")
    expect(page.get_by_role("link", name="hostile", exact=True)).to_be_visible()
    check(page)
    for query in (f"by=label&key={MARKUP}", "by=user"):
        window.go(page, f"/usage?{query}")
        check(page)


def test_a_hostile_draft_is_refused_in_its_own_words(dashboard: Dashboard) -> None:
    window = dashboard.window()
    page = window.open("/create")
    page.get_by_role("textbox", name="Name").fill(HOSTILE)
    expect(page.get_by_role("textbox", name="The job as YAML")).to_have_value(re.compile("onerror"))
    expect(page.locator("#draft-name-help")).to_be_visible()
    expect(page.get_by_role("button", name="Submit")).to_be_disabled()
    check(page)


def poisoned(value: Any) -> Any:
    """An answer of the server with an attack behind every word of it but times."""
    if isinstance(value, dict):
        return {key: poisoned(each) for key, each in value.items()}
    if isinstance(value, list):
        return [poisoned(each) for each in value]
    is_word = isinstance(value, str) and not re.match(r"\d{4}-\d\d-\d\dT", value)
    return f"{value}{MARKUP}" if is_word else value


def poison(route: Route) -> None:
    answer = route.fetch()
    route.fulfill(response=answer, json=poisoned(answer.json()))


@pytest.fixture
def cluster(shared_dashboard: Dashboard) -> Iterator[str]:
    """A cluster whose only job has failed with an attack as its last words."""
    trainway = shared_dashboard.trainway
    program = ("python3", "-c", f"import sys; sys.exit({HOSTILE!r})")
    trainway.run("launch", "-c", "lab", "--cpus", "1", "-y", "--", *program, code=100)
    yield "lab"
    trainway.run("down", "lab", "-y")


def test_a_hostile_cluster_is_text(dashboard: Dashboard, cluster: str) -> None:
    window = dashboard.window()
    page = window.open(f"/clusters/{cluster}")
    expect(page.get_by_role("region", name="Queue")).to_contain_text("Failed")
    check(page)
    window.context.route(re.compile("/api/v1/clusters"), poison)
    window.go(page, f"/clusters/{cluster}")
    for region in ("Nodes", "Queue"):
        expect(page.get_by_role("region", name=region).get_by_text(MARKUP).first).to_be_visible()
    check(page)
    page.get_by_role("button", name="Take down").click()
    expect(page.get_by_role("dialog").get_by_text(MARKUP).first).to_be_visible()
    check(page)
    window.go(page, "/clusters")
    expect(page.get_by_role("link", name=f"{cluster}{MARKUP}")).to_be_visible()
    check(page)


def test_hostile_settings_are_text(dashboard: Dashboard) -> None:
    window = dashboard.window()
    stranger = dashboard.browser.new_context(user_agent=HOSTILE.replace(TURNED, ""))
    config = dashboard.trainway.home / "config.yaml"
    config.write_text("notify: {team: {url: 'http://127.0.0.1:9/'}}\n")
    try:
        stranger.new_page().goto(dashboard.trainway.run("dashboard", "--no-open").strip())
        page = window.open("/settings")
        sessions = page.get_by_role("region", name="Browsers that are logged in")
        expect(sessions.get_by_text(MARKUP)).to_be_visible()
        check(page)
        window.context.route(re.compile("/api/v1/(server|notify|backends)|/sessions"), poison)
        window.go(page, "/settings")
        for text in (f"team{MARKUP}", f"local{MARKUP}", f"{dashboard.trainway.home}{MARKUP}"):
            expect(page.get_by_text(text).first).to_be_visible()
        window.forgive("status of 400")  # there is no target with that name
        page.get_by_role("button", name="Send a test").click()
        expect(page.get_by_text("The test could not be sent")).to_be_visible()
        expect(page.get_by_text(re.compile(f"no .*{re.escape(MARKUP)}")).first).to_be_visible()
        check(page)
    finally:
        stranger.close()
        config.unlink()
