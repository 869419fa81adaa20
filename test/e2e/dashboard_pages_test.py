"""What holds for every page: nothing serious for axe, no complaint, room on a phone.

All pages are visited once, and what was found there is then held against each promise.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from browser import Dashboard, logged_in, settle
from dashboard_pages import GROUP, PageEntry, all_pages
from environments import REPOSITORY
from playwright.sync_api import Browser, Page, ViewportSize, expect

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("dashboard")]

AXE: Final = REPOSITORY / "dashboard/node_modules/axe-core/axe.min.js"
PHONE: Final = ViewportSize(width=320, height=640)
DESK: Final = ViewportSize(width=1280, height=800)
SERIOUS: Final = ("serious", "critical")
COLOURS: Final = ("color-contrast", "link-in-text-block")
"""The rules of axe that look at colours: nothing else differs between light and dark."""
TRAINING: Final = r"""
import os, pathlib, sys
for step in range(5):
    print(f"step={step} loss: {1 / (step + 1):.3f} accuracy: {step / 5}", flush=True)
pathlib.Path(os.environ["TRAINWAY_OUTPUT_DIR"], "model.bin").write_bytes(b"12345")
print("\033[31mred\033[0m and \033[1mbold\033[0m", file=sys.stderr)
"""
TABLES: Final = ".tw-table-frame, .tw-job-table, .tw-scroll-x"
TOO_WIDE: Final = f"""() => [...document.querySelectorAll("html, body, main, main > *, {TABLES}")]
    .filter((each) => each.scrollWidth > each.clientWidth)
    .map((each) => `${{each.tagName}}.${{each.className}}: ${{each.scrollWidth}} px`)"""


@dataclass
class Found:
    """What was seen on the way through all pages."""

    trained: str
    failed: str
    serious: dict[str, list[str]] = field(default_factory=dict)
    too_wide: dict[str, list[str]] = field(default_factory=dict)
    complaints: dict[str, list[str]] = field(default_factory=dict)
    visited: int = 0


@pytest.fixture(scope="module")
def found(shared_dashboard: Dashboard, tmp_path_factory: pytest.TempPathFactory) -> Found:
    """Jobs that have something to show in every tab, and every page of them looked at."""
    trainway = shared_dashboard.trainway
    words = ("--metrics-from-logs", "--label", "team=vision", "--note", "the first one")
    trainway.run("run", "--name", "trained", *words, "--", "python3", "-c", TRAINING)
    script = "seq -f 'reading row %g' 40; echo 'ValueError: no such column: price'; exit 3"
    trainway.run("run", "--name", "spoiled", "--", "sh", "-c", script, code=4)
    trained, failed = (trainway.job(name)["metadata"]["id"] for name in ("trained", "spoiled"))
    nightly = ("0 3 * * *", "--name", "nightly", "--cpus", "1", "--", "true")
    trainway.run("schedule", "create", *nightly)
    seldom = (
        "*/5 1-23/2 1,15,31 jan,feb mon-fri",
        "--timezone",
        "America/Argentina/ComodRivadavia",
    )
    trainway.run("schedule", "create", *seldom, "--name", "seldom", "--cpus", "1", "--", "true")
    trainway.run("schedule", "pause", "seldom")
    trainway.run("run", "examples/pipeline.yaml")
    file = tmp_path_factory.mktemp("group") / "group.yaml"
    file.write_text(GROUP)
    trainway.run("run", str(file))
    group = trainway.job("actors")["metadata"]["id"]
    found = Found(trained, failed)
    window = shared_dashboard.window(viewport=DESK, reduced_motion="reduce")
    page = window.context.new_page()
    spoiled = PageEntry("job-failed", f"/jobs/{failed}")
    for entry in [*all_pages(trained, f"{trained},{failed}", group), spoiled]:
        window.go(page, entry.path)
        for scheme in ("light", "dark"):
            show(page, is_dark=scheme == "dark")
            rules = COLOURS if scheme == "dark" else ()
            note(found.serious, f"{entry.name}, {scheme}", violations(page, rules))
        if entry.name != "compare-jobs":  # as broad as there are metrics
            note(found.too_wide, f"{entry.name}, at a desk", page.evaluate(TOO_WIDE))
        page.set_viewport_size(PHONE)
        settle(page)
        note(found.too_wide, entry.name, page.evaluate(TOO_WIDE))
        page.set_viewport_size(DESK)
        note(found.complaints, entry.name, window.complaints())
        found.visited += 1
    shared_dashboard.close_windows()
    return found


def note(table: dict[str, list[str]], name: str, problems: list[str]) -> None:
    if problems:
        table[name] = problems


def violations(page: Page, rules: tuple[str, ...] = ()) -> list[str]:
    """What axe finds with these rules, or with all of them.

    Its source is evaluated by the debugger, which no policy forbids. It need not read the style
    sheets and media once more: the rules that want them are off, or the pages have none.
    """
    if page.evaluate("typeof window.axe") == "undefined":
        page.evaluate(AXE.read_text())
    options: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    items: list[dict[str, Any]] = page.evaluate(
        "(options) => axe.run(document, options).then((result) => result.violations)", options
    )
    return [
        f"{item['id']}: {node['html'][:200]} {node['failureSummary']}"
        for item in items
        if item["impact"] in SERIOUS
        for node in item["nodes"][:3]
    ]


def show(page: Page, *, is_dark: bool) -> None:
    """As a system with that theme shows it, once it has changed to it."""
    page.emulate_media(color_scheme="dark" if is_dark else "light")
    page.wait_for_function(
        "(dark) => document.documentElement.classList.contains('pf-v6-theme-dark') === dark",
        arg=is_dark,
    )
    page.evaluate(  # colours that are on their way have no contrast yet
        "Promise.allSettled(document.getAnimations().map((each) => each.finished))"
    )


def test_axe_finds_nothing_serious_on_any_page_light_or_dark(found: Found) -> None:
    assert found.visited > 12
    assert found.serious == {}


def test_no_page_and_no_table_scrolls_sideways(found: Found) -> None:
    assert found.too_wide == {}


def test_no_page_complains_on_its_console(found: Found) -> None:
    assert found.complaints == {}


def test_the_page_of_a_failed_job_opens_on_the_reason(dashboard: Dashboard, found: Found) -> None:
    page = dashboard.window(viewport=PHONE).open(f"/jobs/{found.failed}")
    reason = page.get_by_role("heading", name=re.compile("exited with 3"))
    expect(reason).to_be_in_viewport()
    expect(page.get_by_text("What to do:")).to_be_in_viewport()
    words = page.get_by_label(re.compile("The last lines of"))
    expect(words.get_by_text("ValueError: no such column: price")).to_be_visible()
    assert words.evaluate("(box) => box.scrollWidth === box.clientWidth")
    page = dashboard.window(viewport=DESK).open(f"/jobs/{found.failed}")
    words = page.get_by_label(re.compile("The last lines of"))
    expect(words.get_by_text("ValueError: no such column: price")).to_be_in_viewport()
    page.get_by_role("link", name="all of its log").click()
    expect(page.get_by_role("log")).to_contain_text("reading row 40")
    expect(page.get_by_role("combobox", name="Node")).not_to_have_value("")


def test_on_a_phone_the_tab_is_in_sight_and_so_is_the_name_of_the_job(
    dashboard: Dashboard,
) -> None:
    words = ("--label", f"purpose=it-is-{'long-' * 10}indeed", "--note", "a note " * 20)
    dashboard.trainway.run("run", "--name", "labelled", *words, "--", "true")
    page = dashboard.window(viewport=PHONE).open("/jobs/labelled?tab=resources")
    expect(page.get_by_role("heading", name="What it asks for")).to_be_visible()
    expect(page.get_by_role("heading", level=1, name="labelled")).to_be_in_viewport()
    tab = page.get_by_role("tab", selected=True).bounding_box()
    assert tab is not None
    assert 0 <= tab["x"] < tab["x"] + tab["width"] <= PHONE["width"]
    assert page.evaluate(TOO_WIDE) == []


def test_a_theme_that_was_chosen_stays_and_reaches_other_tabs(
    dashboard: Dashboard, found: Found
) -> None:
    window = dashboard.window(color_scheme="light")
    page, other = window.open("/"), window.open(f"/jobs/{found.trained}?tab=logs")
    switch = page.get_by_role("button", name=re.compile("^Theme: "))
    switch.click()
    expect(switch).to_have_accessible_name(re.compile("Theme: light"))
    switch.click()
    for each in (page, other):
        expect(each.locator("html")).to_have_class(re.compile("pf-v6-theme-dark"))
    assert brightness(page) < 64
    red = other.locator(".tw-ansi-1")
    expect(red).to_have_text("red")
    expect(red).to_have_css("color", "rgb(255, 138, 128)")
    page.reload()
    settle(page)
    assert brightness(page) < 64


def brightness(page: Page) -> int:
    """Of the background behind the content, from 0 to 255."""
    colour: str = page.evaluate(
        "getComputedStyle(document.querySelector('.pf-v6-c-page__main-container')).backgroundColor"
    )
    return max(int(part) for part in re.findall(r"\d+", colour)[:3])


def test_pages_without_jobs_say_what_to_do(shared_chromium: Browser, tmp_path: Path) -> None:
    with logged_in(shared_chromium, tmp_path / "home") as empty:
        window = empty.window()
        page = window.open("/")
        expect(page.get_by_text("There are no jobs yet")).to_be_visible()
        expect(page.get_by_text("trainway run -- python train.py")).to_be_visible()
        page.get_by_role("link", name="Jobs", exact=True).click()
        expect(page.get_by_role("heading", level=1, name="Jobs")).to_be_visible()
        expect(page.get_by_text("trainway run -- python train.py")).to_be_visible()
        page.get_by_role("link", name="Compare", exact=True).click()
        expect(page.get_by_text("Nothing to compare yet")).to_be_visible()
        page.get_by_role("link", name="Usage", exact=True).click()
        expect(page.get_by_text("Nothing was used")).to_be_visible()
        empty.trainway.run("run", "--name", "first", "--", "true")
        page.get_by_role("link", name="Overview", exact=True).click()
        expect(page.get_by_text("Succeeded: 1")).to_be_visible()
        assert empty.close_windows() == []


def test_what_is_not_there_is_said(dashboard: Dashboard) -> None:
    window = dashboard.window()
    window.forgive("status of 404")
    page = window.open("/jobs/nobody")
    expect(page.get_by_text("There is no such job")).to_be_visible()
    expect(page.get_by_text("trainway jobs list shows them all", exact=True)).to_be_visible()
    window.go(page, "/nowhere")
    expect(page.get_by_text("There is no such page")).to_be_visible()


def test_without_a_session_a_page_says_how_to_log_in(dashboard: Dashboard) -> None:
    context = dashboard.browser.new_context()
    page = context.new_page()
    page.goto(f"{dashboard.address}/dashboard/jobs")
    expect(page.get_by_text("trainway dashboard", exact=False).first).to_be_visible()
    assert "trained" not in page.content()
    context.close()
