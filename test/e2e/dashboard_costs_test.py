"""The pages Costs and Prices, in a real browser with a real server."""

import re
from pathlib import Path

import pytest
from browser import Dashboard, settle
from gate import Gate
from playwright.sync_api import ViewportSize, expect

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("dashboard")]
PRICES = "prices: {local: {node: 3600}}\n"


def test_what_a_job_costs_and_what_it_may_cost(dashboard: Dashboard, gate: Gate) -> None:
    settings = Path(dashboard.trainway.home, "config.yaml")
    before = settings.read_text() if settings.exists() else ""
    settings.write_text(before + PRICES)
    try:
        words = ("--name", "dear", "--label", "team=money", "--max-cost", "1000000", "-d")
        dashboard.trainway.run("run", *words, "--", *gate.command("one"))
        dashboard.trainway.run(
            "budgets", "set", "money", "--label", "team=money", "--monthly", "10000000"
        )
        running = gate.next()
        page = dashboard.window().open("/costs?by=label&key=team")
        row = page.get_by_role("region", name="Costs by label").get_by_role("row", name="money")
        expect(row).to_contain_text(re.compile(r"\$[1-9]"))
        budget = page.get_by_role("region", name="Budgets").get_by_role("row", name="money")
        expect(budget).to_contain_text("team=money")
        expect(budget).to_contain_text("fine")
        job = dashboard.trainway.job("dear")["metadata"]["id"]
        page.goto(f"{dashboard.address}/dashboard/jobs/{job}?tab=resources")
        settle(page)
        said = re.compile(r"\$.* of at most \$1,000,000\.00, \$3,600\.00 an hour")
        expect(page.get_by_text(said)).to_be_visible()
        expect(page.get_by_text("0 % of the limit")).to_be_visible()
        running.let_go()
        dashboard.trainway.run("jobs", "wait", "dear")
    finally:
        settings.write_text(before)
        dashboard.trainway.run("budgets", "delete", "money")


def test_prices_are_found_by_name_and_number(dashboard: Dashboard) -> None:
    page = dashboard.window(viewport=ViewportSize(width=320, height=640)).open("/prices")
    page.get_by_label("Name of the GPU").fill("h100")
    expect(page.get_by_role("button", name="A10G")).to_have_count(0)
    page.get_by_role("button", name="H100", exact=True).click()
    expect(page.get_by_role("heading", name="Prices of H100")).to_be_visible()
    offers = page.get_by_role("region", name="Offers of H100").get_by_role("row")
    expect(offers.nth(1)).to_contain_text(re.compile(r"\$\d"))
    page.get_by_label("GPUs of a machine").select_option("8")
    expect(page).to_have_url(re.compile("count=8"))
    page.get_by_label("Cloud").fill("nobody")
    expect(page.get_by_text("Nobody offers that")).to_be_visible()
    page.get_by_role("button", name="All GPUs").click()
    expect(page.get_by_role("region", name="GPUs")).to_be_visible()
