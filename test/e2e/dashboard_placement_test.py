"""The tab Placement of a job: what other places say, and a move that is asked for."""

from collections.abc import Iterator
from typing import Any

import pytest
from browser import Dashboard, logged_in
from playwright.sync_api import Browser, Route, expect

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("dashboard")]

POOL = "pools: {lab: {hosts: [{name: dead, host: 127.0.0.1, port: 9}]}}\n"


@pytest.fixture(scope="module")
def site(shared_chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """A job that goes on, and a pool whose only host does not answer."""
    home = tmp_path_factory.mktemp("placement")
    (home / "config.yaml").write_text(POOL)
    with logged_in(shared_chromium, home) as made:
        yield made
        assert made.close_windows() == []


def offer(place: str, **more: Any) -> dict[str, Any]:
    told = {"fit": "now", "reason": "all of it fits now", "price": 1.5, "ahead": 0, "obstacle": ""}
    return {"place": place, **told, **more}


def test_real_places_are_asked_and_the_command_is_told(site: Dashboard) -> None:
    job = site.trainway.submit("--name", "stays", "--", "sleep", "600")
    page = site.window().open(f"/jobs/{job}?tab=placement")
    expect(page.get_by_text("It has not moved.")).to_be_visible()
    row = page.get_by_role("region", name="Other places").get_by_role("row")
    expect(row.filter(has_text="ssh/lab")).to_be_visible()
    expect(page.get_by_role("button", name="Move… to ssh/lab")).to_have_count(0)


def test_a_job_is_moved_where_the_server_can_do_it(site: Dashboard) -> None:
    job = site.trainway.submit("--name", "moves", "--", "sleep", "600")
    asked: list[Any] = []
    files = "its files are at local, from where trainway jobs move brings them along"
    offers = [offer("ssh/lab"), offer("slurm/hpc", fit="later", obstacle=files)]

    def moved(route: Route) -> None:
        asked.append(route.request.post_data_json)
        route.fulfill(status=409, json={"error": {"code": "conflict", "message": "it is busy"}})

    window = site.window()
    window.forgive("status of 409")
    window.context.route("**/placement", lambda route: route.fulfill(json={"offers": offers}))
    window.context.route("**/move", moved)
    page = window.open(f"/jobs/{job}?tab=placement")
    expect(page.get_by_text(f"trainway jobs move {job} --on slurm/hpc")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="ssh/lab")).to_contain_text("$1.50")
    page.get_by_role("button", name="Move… to ssh/lab").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Move the job").click()
    expect(dialog).to_contain_text("it is busy")
    assert [body["on"] for body in asked] == ["ssh/lab"]
    dialog.get_by_role("button", name="Go back").click()
    expect(dialog).to_have_count(0)


def test_a_job_that_has_ended_asks_no_place(site: Dashboard) -> None:
    site.trainway.run("run", "--name", "over", "--", "true")
    page = site.window().open("/jobs/over?tab=placement")
    expect(page.get_by_text("The job has ended, so it does not move any more.")).to_be_visible()
