"""The page Nodes in a real browser: a thousand nodes, and a host that is set aside for real."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from browser import Dashboard, logged_in, settle
from playwright.sync_api import Browser, Route, expect

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("dashboard")]

POOL = "pools: {lab: {hosts: [{name: dead, host: 127.0.0.1, port: 9}]}}\n"
MANY = 1000
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def site(shared_chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """This machine with a job on it, and a pool whose only host does not answer."""
    home = tmp_path_factory.mktemp("nodes")
    (home / "config.yaml").write_text(POOL)
    with logged_in(shared_chromium, home) as made:
        made.trainway.submit("--name", "holder", "--", "sleep", "600")
        yield made
        assert made.close_windows() == []


def node(number: int, **more: Any) -> dict[str, Any]:
    amounts = {"cpus": 64, "freeCpus": 32.5, "memory": 2**38, "freeMemory": 2**37}
    told = {"name": f"node-{number:04}", "state": "up", "problem": "", "sort": "", "drained": ""}
    rest = {"gpus": 8, "freeGpus": 3, "devices": [], "jobs": [], "failures": {}, "lastFailure": ""}
    return {**told, **amounts, **rest, **more}


def answered(backend: str, nodes: list[dict[str, Any]]) -> dict[str, Any]:
    told = {"tells": True, "drains": True, "problem": "", "hint": ""}
    return {"name": backend, "nodes": nodes, "total": len(nodes), **told}


def test_a_host_is_set_aside_and_let_in_again(site: Dashboard) -> None:
    page = site.window().open("/nodes")
    local = page.get_by_role("row").filter(has_text="holder")
    expect(local.get_by_role("link", name="holder")).to_be_visible()
    expect(local.get_by_role("button")).to_have_count(0)  # this machine cannot be set aside
    host = page.get_by_role("row").filter(has_text="ssh/lab")
    expect(host).to_contain_text("Takes no jobs")
    page.get_by_role("button", name="Drain dead of ssh/lab").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Why, for whoever looks later").fill("its fan is loud")
    dialog.get_by_role("button", name="Drain").click()
    expect(host).to_contain_text("Set aside")
    expect(host).to_contain_text("its fan is loud")
    told = json.loads(site.trainway.run("nodes", "list", "--on", "ssh/lab", "-o", "json"))
    assert told[0]["nodes"][0]["drained"] == "its fan is loud"
    page.get_by_label("State").select_option("aside")
    expect(page).to_have_url(re.compile("state=aside"))
    expect(local).to_have_count(0)
    page.get_by_role("button", name="Undrain dead of ssh/lab").click()
    page.get_by_role("dialog").get_by_role("button", name="Undrain").click()
    expect(page.get_by_text("No node is like that.")).to_be_visible()
    told = json.loads(site.trainway.run("nodes", "list", "--on", "ssh/lab", "-o", "json"))
    assert told[0]["nodes"][0]["drained"] == ""


def test_of_a_thousand_nodes_only_those_in_sight_are_drawn(site: Dashboard) -> None:
    wrong = node(777, problem=HOSTILE, failures={"NodeLost": 2}, lastFailure="the host was lost")
    nodes = [wrong if number == 777 else node(number) for number in range(MANY)]

    def answer(route: Route) -> None:
        backend = (route.request.post_data_json or {})["backend"]
        route.fulfill(json=answered(backend, nodes if backend == "local" else []))

    window = site.window()
    window.context.route("**/api/v1/backends/nodes", answer)
    page = window.open("/nodes")
    table = page.get_by_role("table", name=re.compile(" nodes?$"))
    expect(page.get_by_text("1,000 nodes, 1 takes no jobs")).to_be_visible()
    rows = table.locator("[data-row]")
    expect(rows.filter(has_text="node-0000")).to_be_visible()
    assert rows.count() < 60
    table.evaluate("(each) => each.scrollTo(0, each.scrollHeight)")
    expect(rows.filter(has_text="node-0999")).to_be_visible()
    assert rows.count() < 60
    page.get_by_role("textbox", name="Find nodes").fill("node-0777")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(HOSTILE)
    expect(rows).to_contain_text("2 lost with the node")
    expect(rows).to_contain_text("the host was lost")


def test_a_place_that_does_not_answer_is_named_beside_the_others(site: Dashboard) -> None:
    def answer(route: Route) -> None:
        backend = (route.request.post_data_json or {})["backend"]
        silent = {"problem": "the login is refused", "hint": "add a key"}
        told = answered(backend, [node(1)] if backend == "local" else [])
        route.fulfill(json=told if backend == "local" else told | silent)

    window = site.window()
    window.context.route("**/api/v1/backends/nodes", answer)
    page = window.open("/nodes?place=ssh%2Flab")
    expect(page.get_by_text("ssh/lab cannot be asked for its nodes")).to_be_visible()
    expect(page.get_by_text("add a key")).to_be_visible()
    page.get_by_label("Place").select_option("")
    settle(page)
    expect(page.get_by_role("row").filter(has_text="node-0001")).to_be_visible()


def test_the_keys_go_from_node_to_node_however_many_jobs_each_has(site: Dashboard) -> None:
    jobs = [{"id": f"j{number}", "name": f"job-{number}", "pods": 1} for number in range(4)]
    nodes = [node(1, jobs=jobs[:2]), node(2, jobs=jobs[2:])]

    def answer(route: Route) -> None:
        backend = (route.request.post_data_json or {})["backend"]
        route.fulfill(json=answered(backend, nodes if backend == "local" else []))

    window = site.window()
    window.context.route("**/api/v1/backends/nodes", answer)
    page = window.open("/nodes")
    first, second = (page.get_by_role("link", name=f"job-{number}") for number in (0, 2))
    expect(second).to_be_visible()
    page.keyboard.press("j")
    expect(first).to_be_focused()
    page.keyboard.press("j")
    expect(second).to_be_focused()
    page.keyboard.press("k")
    expect(first).to_be_focused()
