"""The page Pipelines in a real browser: a real pipeline fails, is looked at, and is run again."""

import re
from pathlib import Path

import pytest
from browser import Dashboard, settle
from playwright.sync_api import expect

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("dashboard")]


def pipeline(folder: Path, flag: Path) -> str:
    """A diamond, one side of which fails until there is a file."""
    file = folder / "diamond.yaml"
    file.write_text(
        "name: diamond\n---\n{name: prepare, run: 'true'}\n---\n"
        "{name: left, depends_on: [prepare], run: 'true'}\n---\n"
        f"{{name: right, depends_on: [prepare], run: '[ -e {flag} ]'}}\n---\n"
        "{name: report, depends_on: [left, right, prepare], run: echo done}\n"
    )
    return str(file)


def test_a_pipeline_is_drawn_and_run_again_from_where_it_failed(
    dashboard: Dashboard, tmp_path: Path
) -> None:
    window = dashboard.window()
    page = window.open("/pipelines")
    expect(page.get_by_text("There are no pipelines yet")).to_be_visible()
    flag = tmp_path / "repaired"
    dashboard.trainway.run("run", pipeline(tmp_path, flag), code=4)
    row = page.get_by_role("row").filter(has_text="diamond")
    expect(row).to_contain_text("Failed")
    row.get_by_role("link", name="diamond").click()
    settle(page)
    graph = page.get_by_role("region", name="The tasks and their order")
    expect(graph.locator("path.tw-edge")).to_have_count(5)
    expect(graph.get_by_role("link")).to_have_count(4)
    expect(graph.get_by_role("link", name=re.compile("^right Failed"))).to_be_visible()
    table = page.get_by_role("region", name="Tasks", exact=True)
    report = table.get_by_role("row").filter(has_text="left, right, prepare")
    expect(report).to_contain_text("right failed, so it was not started")
    expect(page.get_by_role("button", name="Rerun from here: report")).to_have_count(0)

    flag.touch()
    page.get_by_role("button", name="Rerun from here: right").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("listitem")).to_have_text(["right", "report"])
    dialog.get_by_role("button", name="Rerun").click()
    expect(graph.get_by_role("link", name=re.compile("^report Succeeded"))).to_be_visible()
    expect(page.get_by_role("button", name="Rerun from here: report")).to_be_visible()
    shown = dashboard.trainway.json("runs", "show", "diamond")
    assert shown["status"]["phases"] == {"Succeeded": 4}
    assert len(dashboard.trainway.json("runs", "list")["items"]) == 1

    prepare = graph.get_by_role("link", name=re.compile("^prepare "))
    prepare.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="diamond-prepare")).to_be_visible()
    page.get_by_role("link", name="diamond", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="diamond")).to_be_visible()


def test_a_pipeline_that_waits_is_cancelled(dashboard: Dashboard, tmp_path: Path) -> None:
    file = tmp_path / "long.yaml"
    file.write_text("name: long\n---\n{name: one, run: sleep 600}\n---\n{name: two, run: 'true'}\n")
    dashboard.trainway.run("run", "-d", str(file))
    page = dashboard.window().open("/pipelines/long")
    expect(page.get_by_role("row").filter(has_text="it waits for one")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel the pipeline").click()
    graph = page.get_by_role("region", name="The tasks and their order")
    expect(graph.get_by_role("link", name=re.compile("^two Cancelled"))).to_be_visible()
    expect(graph.get_by_role("link", name=re.compile("^one Cancelled"))).to_be_visible()


def test_a_run_that_is_no_pipeline_says_so(dashboard: Dashboard) -> None:
    dashboard.trainway.run("run", "--name", "sweep", "--grid", "LR=1,2", "--", "true")
    window = dashboard.window()
    page = window.open("/pipelines/sweep")
    expect(page.get_by_text("This run is not a pipeline")).to_be_visible()
    window.forgive("status of 404")
    window.go(page, "/pipelines/nobody")
    expect(page.get_by_text("there is no run 'nobody'")).to_be_visible()


def test_a_job_group_is_drawn_with_its_primary_tasks(dashboard: Dashboard, tmp_path: Path) -> None:
    file = tmp_path / "group.yaml"
    file.write_text(
        "{name: rl, execution: parallel, primary_tasks: [trainer]}\n---\n"
        "{name: trainer, num_nodes: 2, run: 'true'}\n---\n{name: replay, run: sleep 600}\n"
    )
    dashboard.trainway.run("run", str(file))
    page = dashboard.window().open("/pipelines")
    groups = page.get_by_role("region", name="Job groups")
    groups.get_by_role("link", name="rl").click()
    settle(page)
    graph = page.get_by_role("region", name="The tasks that run together")
    expect(graph.get_by_text("Primary: the group ends with these")).to_be_visible()
    expect(graph.get_by_text("2 nodes, Succeeded", exact=True)).to_be_visible()
    table = page.get_by_role("region", name="Tasks", exact=True)
    expect(table.get_by_role("row").filter(has_text="replay")).to_contain_text("Auxiliary")
    page.get_by_role("link").filter(has_text=re.compile("^[a-z0-9]{12}$")).click()
    expect(page.get_by_role("heading", level=1, name="rl")).to_be_visible()
