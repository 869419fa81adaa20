"""What people do on the dashboard, in a real browser with real jobs on this machine.

A page that changes by itself must not have been loaded anew: a variable of its window is still
there. Jobs wait at a gate, so that a test decides what happens next.
"""

import os
import re
import shlex
import signal

import pytest
from browser import SERVER_AWAY, Dashboard, settle
from gate import Gate
from playwright.sync_api import Locator, Page, expect

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("dashboard")]


def mark(page: Page) -> None:
    """Leave something in the window that is gone when it is loaded anew."""
    page.evaluate("window.notReloaded = true")


def is_marked(page: Page) -> bool:
    return page.evaluate("window.notReloaded === true") is True


def phase(page: Page, name: str) -> Locator:
    """The phase beside the title of a job's page."""
    heading = page.locator(".tw-heading")
    return heading.get_by_text(name, exact=True)


def row(page: Page, name: str) -> Locator:
    """The row of a job in the list."""
    return page.get_by_role("row").filter(has=page.get_by_role("link", name=name, exact=True))


def find(page: Page, name: str) -> None:
    """Show only the jobs whose name has this in it."""
    page.get_by_role("textbox", name="Name").fill(name)
    expect(page).to_have_url(re.compile(f"text={name}"))


def test_a_job_made_with_the_form_runs_and_is_watched_to_its_end(
    dashboard: Dashboard, gate: Gate
) -> None:
    page = dashboard.window().open("/create")
    name = page.get_by_role("textbox", name="Name")
    submit = page.get_by_role("button", name="Submit")
    expect(submit).to_be_enabled()
    name.fill("Not A Name")
    expect(page.locator("#draft-name-help")).to_contain_text("lowercase")
    expect(submit).to_be_disabled()
    name.fill("formed")
    page.get_by_role("textbox", name="Command").fill(shlex.join(gate.command("formed")))
    editor = page.get_by_role("textbox", name="The job as YAML")
    expect(editor).to_have_value(re.compile(r"name: formed\n[\s\S]*visitor\.py"))
    expect(submit).to_be_enabled()
    page.get_by_role("button", name="Dry run").click()
    expect(page.get_by_role("dialog")).to_contain_text("kind: JobSet")
    page.get_by_role("dialog").get_by_role("button", name="Close").last.click()
    mark(page)
    submit.click()

    expect(page.get_by_role("heading", level=1, name="formed")).to_be_visible()
    visitor = gate.next()
    expect(phase(page, "Running")).to_be_visible()
    page.get_by_role("tab", name="Logs").click()
    log = page.get_by_role("log")
    expect(log).to_contain_text("formed at the gate")
    visitor.let_go()
    expect(log).to_contain_text("formed through the gate")
    expect(phase(page, "Succeeded")).to_be_visible()

    page.get_by_role("link", name="Rerun").click()
    expect(page.get_by_role("heading", level=1, name="Rerun with changes")).to_be_visible()
    page.get_by_role("textbox", name="Variables").fill("RATE=0.2")
    expect(editor).to_have_value(re.compile("name: RATE"))
    page.get_by_role("button", name="Submit again").click()
    visitor = gate.next()
    assert visitor.env["RATE"] == "0.2"
    expect(phase(page, "Running")).to_be_visible()
    visitor.let_go()
    expect(phase(page, "Succeeded")).to_be_visible()
    assert is_marked(page)


def test_a_job_is_suspended_resumed_and_cancelled(dashboard: Dashboard, gate: Gate) -> None:
    job = dashboard.trainway.submit("--name", "steered", "--", *gate.command("steered"))
    gate.next()
    page = dashboard.window().open(f"/jobs/{job}")
    mark(page)
    page.get_by_role("button", name="Suspend").click()
    expect(phase(page, "Paused")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    gate.next()
    expect(phase(page, "Running")).to_be_visible()
    page.get_by_role("button", name="Cancel", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Cancel steered?")
    dialog.get_by_role("button", name="Cancel the job").click()
    expect(phase(page, "Cancelled")).to_be_visible()
    expect(page.get_by_role("button", name="Suspend")).to_have_count(0)
    assert is_marked(page)
    assert dashboard.trainway.phase(job) == "Cancelled"


def test_a_job_that_no_form_can_show_is_run_again_with_changes_of_its_text(
    dashboard: Dashboard, gate: Gate
) -> None:
    words = ("--name", "again", "--env", "RATE=0.1", "--", *gate.command("again"))
    job = dashboard.trainway.submit(*words)
    gate.next().let_go()
    page = dashboard.window().open(f"/jobs/{job}")
    expect(phase(page, "Succeeded")).to_be_visible()
    mark(page)
    page.get_by_role("link", name="Rerun").click()
    expect(page.get_by_role("heading", level=1, name="Rerun with changes")).to_be_visible()
    editor = page.get_by_role("textbox", name="The job as YAML")
    expect(editor).to_have_value(re.compile('"0.1"'))
    editor.fill(editor.input_value().replace('"0.1"', "[1, 2]"))
    wrong = page.get_by_role("button", name=re.compile("^Line "))
    expect(wrong).to_be_visible()
    wrong.click()
    expect(editor).to_be_focused()
    expect(page.get_by_role("button", name="Submit again")).to_be_disabled()
    editor.fill(editor.input_value().replace("[1, 2]", '"0.2"'))
    page.get_by_role("button", name="Submit again").click()
    assert gate.next().env["RATE"] == "0.2"
    expect(phase(page, "Running")).to_be_visible()
    assert not page.url.endswith(job)
    page.get_by_role("tab", name="YAML").click()
    page.get_by_role("button", name="Difference to another run").click()
    difference = page.get_by_label("Difference", exact=True)
    expect(difference.locator(".tw-diff-removed")).to_contain_text("0.1")
    expect(difference.locator(".tw-diff-added")).to_contain_text("0.2")
    assert is_marked(page)


def test_jobs_of_a_run_are_chosen_in_the_list_and_compared(dashboard: Dashboard) -> None:
    script = 'echo "step=1 loss: $TRAINWAY_PARAM_RATE"; echo "step=2 loss: 0.$TRAINWAY_PARAM_RATE"'
    words = ("--metrics-from-logs", "--grid", "RATE=5,3", "--", "sh", "-c", script)
    dashboard.trainway.run("run", "--name", "contest", *words)
    page = dashboard.window().open("/jobs")
    find(page, "contest")
    group = page.get_by_role("link", name="contest", exact=True)
    expect(group).to_be_visible()
    expect(page.get_by_role("row").nth(1)).to_contain_text("run of 2 jobs")
    group.click()
    expect(page.get_by_role("link", name=re.compile("contest-"))).to_have_count(2)
    page.get_by_role("checkbox", name="Select the jobs that are loaded").check()
    expect(page.get_by_text("2 jobs selected")).to_be_visible()
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", level=1, name="Compare jobs")).to_be_visible()
    table = page.get_by_role("region", name="Comparison")
    best = table.get_by_role("row").filter(has_text="best")
    expect(best).to_have_count(1)
    expect(best).to_contain_text("0.3")
    expect(page.get_by_role("columnheader", name="RATE=")).to_be_visible()
    page.get_by_role("combobox", name="What is best").select_option("max")
    expect(best).to_contain_text("0.5")
    expect(page.get_by_role("img", name=re.compile("^loss of contest-"))).to_be_visible()


def test_filters_sort_and_columns_survive_a_reload(dashboard: Dashboard) -> None:
    for name in ("kept-one", "kept-two"):
        dashboard.trainway.run("run", "--name", name, "--label", "team=kept", "--", "true")
    dashboard.trainway.run("run", "--name", "kept-ill", "--", "false", code=4)
    page = dashboard.window().open("/jobs")
    find(page, "kt-")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.type("ep")
    page.get_by_role("combobox", name="Phase").select_option("Succeeded")
    page.get_by_role("textbox", name="Labels").fill("team=kept")
    page.keyboard.press("Enter")
    page.get_by_role("columnheader", name="Name").get_by_role("button").click()
    page.get_by_role("button", name="Columns").click()
    page.get_by_role("menuitem", name="Labels").click()
    page.keyboard.press("Escape")
    names = page.locator("[data-row] a")
    expect(names).to_have_text(["kept-one", "kept-two"])
    address = page.url
    page.reload()
    settle(page)
    assert page.url == address
    expect(names).to_have_text(["kept-one", "kept-two"])
    expect(page.get_by_role("textbox", name="Name")).to_have_value("kept-")
    expect(page.get_by_role("combobox", name="Phase")).to_have_value("Succeeded")
    expect(page.get_by_role("textbox", name="Labels")).to_have_value("team=kept")
    expect(row(page, "kept-one")).to_contain_text("team=kept")
    page.get_by_role("button", name="Clear the filters").click()
    expect(row(page, "kept-ill")).to_be_visible()


def test_two_tabs_show_the_same_and_what_is_deleted_is_gone_from_both(
    dashboard: Dashboard, gate: Gate
) -> None:
    window = dashboard.window()
    one, other = window.open("/jobs?text=shared"), window.open("/jobs?text=shared")
    mark(one)
    mark(other)
    expect(other.get_by_text("No job is like that")).to_be_visible()
    job = dashboard.trainway.submit("--name", "shared", "--", *gate.command("shared"))
    visitor = gate.next()
    for page in (one, other):
        expect(row(page, "shared")).to_contain_text("Running")
    visitor.let_go()
    for page in (one, other):
        expect(row(page, "shared")).to_contain_text("Succeeded")
    window.forgive("status of 404")  # what a page asks that still shows the job
    looked_at = window.open(f"/jobs/{job}")
    mark(looked_at)
    row(one, "shared").get_by_role("checkbox").check()
    one.get_by_role("button", name="Delete").click()
    one.get_by_role("dialog").get_by_role("button", name="Delete").click()
    for page in (one, other):
        expect(row(page, "shared")).to_have_count(0)
        expect(page.get_by_text("No job is like that")).to_be_visible()
    expect(one.get_by_text("No job selected")).to_be_visible()
    expect(looked_at.get_by_text("This job was deleted")).to_be_visible()
    assert all(is_marked(page) for page in (one, other, looked_at))


def test_a_page_goes_on_when_the_server_was_killed_and_is_back(
    dashboard: Dashboard, gate: Gate
) -> None:
    job = dashboard.trainway.submit("--name", "outlives", "--", *gate.command("outlives"))
    visitor = gate.next()
    window = dashboard.window()
    window.forgive(SERVER_AWAY)
    page, listed = window.open(f"/jobs/{job}"), window.open("/jobs?text=outlives")
    for each in (page, listed):
        mark(each)
    expect(phase(page, "Running")).to_be_visible()
    os.kill(dashboard.trainway.server_pid(), signal.SIGKILL)
    expect(page.get_by_text("Reconnecting")).to_be_visible()
    dashboard.trainway.run("server", "start")
    expect(page.get_by_text("Reconnecting")).to_have_count(0)
    visitor.let_go()
    expect(phase(page, "Succeeded")).to_be_visible()
    expect(row(listed, "outlives")).to_contain_text("Succeeded")
    assert is_marked(page)
    assert is_marked(listed)


def test_the_keyboard_is_enough(dashboard: Dashboard) -> None:
    for name in ("keyed-a", "keyed-b"):
        dashboard.trainway.run("run", "--name", name, "--", "true")
    page = dashboard.window().open("/")
    page.keyboard.press("g")
    page.keyboard.press("j")
    expect(page.get_by_role("heading", level=1, name="Jobs")).to_be_visible()
    settle(page)
    page.keyboard.press("/")
    expect(page.get_by_role("textbox", name="Name")).to_be_focused()
    page.keyboard.type("keyed-")
    links = page.locator("[data-row] a")
    expect(links).to_have_text(["keyed-b", "keyed-a"])
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(links.nth(0)).to_be_focused()
    page.keyboard.press("j")
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(links.nth(0)).to_be_focused()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Next row")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    links.nth(0).press("Enter")
    expect(page.get_by_role("heading", level=1, name="keyed-b")).to_be_visible()
