"""A job whose every word is an attack: the dashboard shows it as text, on each of its pages.

A page that took any of it for HTML would have an element with our mark, or have run our script; or
the policy of the server would have stopped that, which the browser says on its console.
"""

import re
from dataclasses import dataclass
from typing import Final

import pytest
from browser import Dashboard, settle
from dashboard_pages import job_pages
from playwright.sync_api import Page, expect

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
