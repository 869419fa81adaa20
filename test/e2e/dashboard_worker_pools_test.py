"""Worker pools on the page Clusters, in a real browser with a real pool."""

from collections.abc import Iterator

import pytest
from browser import Dashboard, logged_in
from playwright.sync_api import Browser, expect

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("dashboard")]


@pytest.fixture(scope="module")
def site(shared_chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """A server with a worker pool that has a job."""
    with logged_in(shared_chromium, tmp_path_factory.mktemp("pools")) as made:
        made.trainway.run("jobs", "pool", "apply", "examples/worker-pool.yaml")
        made.trainway.submit("-p", "warm", "--name", "long", "--", "sleep", "600")
        yield made
        assert made.close_windows() == []
        made.trainway.run("jobs", "pool", "down", "warm", "-y", "--cancel-jobs")


def test_a_pool_is_shown_with_what_its_workers_do(site: Dashboard) -> None:
    page = site.window().open("/clusters")
    expect(page.get_by_role("heading", name="Worker pools")).to_be_visible()
    pool = (
        page.get_by_role("region", name="Worker pools").get_by_role("row").filter(has_text="warm")
    )
    expect(pool).to_contain_text("2 of 2 ready", timeout=120_000)
    expect(pool).to_contain_text("has no job", timeout=120_000)
    pool.get_by_role("link", name="runs a job").click()
    expect(page.get_by_role("heading", name="long")).to_be_visible()
