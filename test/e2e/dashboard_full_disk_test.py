"""The disk below the server is full, and somebody works on the dashboard."""

import re
import shlex
from pathlib import Path

import pytest
from browser import Dashboard, logged_in
from gate import Gate
from playwright.sync_api import Browser, Page, expect
from small_disk import filled, small_disk

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("dashboard")]


def cancel(page: Page) -> None:
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel the job").click()


def names(dashboard: Dashboard) -> list[str]:
    jobs = dashboard.trainway.json("jobs", "list", "--all")["items"]
    return sorted(job["metadata"]["name"] for job in jobs)


def test_what_a_full_disk_refuses_is_said_and_done_when_there_is_room(
    shared_chromium: Browser, tmp_path: Path, gate: Gate
) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk), logged_in(shared_chromium, disk / "home") as dashboard:
        trainway = dashboard.trainway
        job = trainway.submit("--name", "held", "--", *gate.command("held"))
        gate.next()
        window = dashboard.window()
        window.forgive("status of 50[0-9]")
        held, new = window.open(f"/jobs/{job}"), window.open("/create")
        new.get_by_role("textbox", name="Name").fill("later")
        new.get_by_role("textbox", name="Command").fill(shlex.join(gate.command("later")))
        submit = new.get_by_role("button", name="Submit")
        expect(new.get_by_role("textbox", name="The job as YAML")).to_have_value(
            re.compile(r"name: later\n[\s\S]*visitor\.py")
        )
        expect(submit).to_be_enabled()
        with filled(disk) as fill:
            full = f"the disk of the database {trainway.home}/trainway.db is full"
            fill()
            submit.click()
            fill()
            cancel(held)
            for page in (new, held):
                expect(page.get_by_text(full)).to_be_visible()
                expect(page.get_by_text("free some space on that disk")).to_be_visible()
            expect(held.get_by_role("dialog")).to_have_count(0)
            expect(new.get_by_role("textbox", name="Name")).to_have_value("later")
            assert names(dashboard) == ["held"]
            assert trainway.phase(job) == "Running"
        submit.click()
        expect(new.get_by_role("heading", level=1, name="later")).to_be_visible()
        gate.next().let_go()
        cancel(held)
        expect(held.locator(".tw-heading").get_by_text("Cancelled")).to_be_visible()
        expect(held.get_by_text(full)).to_have_count(0)
        assert names(dashboard) == ["held", "later"]
        assert dashboard.close_windows() == []
