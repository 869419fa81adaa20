"""The dashboard as people have it: Debian's Chromium, driven by Playwright, and a real server.

A browser takes a second to start, and a server too, so that tests share one of each. Every test has
windows of its own, which know nothing of what others chose; what a window complains of on its
console fails the test that opened it.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from environments import REPOSITORY, unavailable
from installation import Installation, installed
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    StorageState,
    expect,
    sync_playwright,
)

TIMEOUT_MS: Final = 60_000
"""For whatever a test waits for: far beyond what it takes."""
LOADING: Final = "[aria-label^='Loading'], .pf-v6-c-skeleton"
CHROMIUM: Final = shutil.which("chromium")
BUILT: Final = REPOSITORY / "src/trainway/server/dashboard/index.html"
SERVER_AWAY: Final = re.compile(r"net::ERR_|status of 50[0-9]")
"""What a browser says of requests while there is no server."""


class Window:
    """A browser of its own, with cookies and choices of its own, and any number of pages."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.context = context
        self._address = address
        self._complaints: list[str] = []
        self._forgiven: list[re.Pattern[str]] = []
        context.set_default_timeout(TIMEOUT_MS)
        context.on("console", self._heard)
        context.on("weberror", lambda error: self._complaints.append(f"uncaught: {error.error}"))

    def open(self, path: str = "/") -> Page:
        """A page of the dashboard in a tab of its own."""
        page = self.context.new_page()
        self.go(page, path)
        return page

    def go(self, page: Page, path: str) -> None:
        """Load a page of the dashboard, and wait until it shows what it has to show."""
        page.goto(f"{self._address}/dashboard{path}")
        settle(page)

    def forgive(self, pattern: str | re.Pattern[str]) -> None:
        """Take no offence at what the test itself brings about."""
        self._forgiven.append(re.compile(pattern))

    def complaints(self) -> list[str]:
        """What went wrong on the pages, as a developer would see it."""
        return [
            text
            for text in self._complaints
            if not any(pattern.search(text) for pattern in self._forgiven)
        ]

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            place = message.location.get("url", "")
            self._complaints.append(f"{message.type}: {message.text} ({place})")


def settle(page: Page) -> None:
    """Wait until a page shows its content."""
    expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=TIMEOUT_MS)
    expect(page.locator(LOADING)).to_have_count(0, timeout=TIMEOUT_MS)


@dataclass
class Dashboard:
    """A server, a browser that is logged in to it, and the windows that are open."""

    trainway: Installation
    browser: Browser
    address: str
    state: StorageState
    """The cookie of the session."""
    windows: list[Window] = field(default_factory=list)

    def window(self, **options: Any) -> Window:
        """A window that is logged in: `color_scheme="dark"`, `viewport=PHONE`."""
        context = self.browser.new_context(storage_state=self.state, **options)
        window = Window(context, self.address)
        self.windows.append(window)
        return window

    def close_windows(self) -> list[str]:
        """Close all windows; returns what they complained of."""
        complaints = [text for window in self.windows for text in window.complaints()]
        for window in self.windows:
            window.context.close()
        self.windows.clear()
        return complaints


def missing() -> str:
    """What cannot be done without and is not there; empty: nothing."""
    if CHROMIUM is None:
        return "chromium (apt-get install chromium)"
    return "" if BUILT.is_file() else "the dashboard (make dashboard)"


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, whose own sandbox root cannot use."""
    expect.set_options(timeout=TIMEOUT_MS)
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def logged_in(
    browser: Browser, home: Path, variables: Mapping[str, str] | None = None
) -> Iterator[Dashboard]:
    """A server of its own, and a session that began with the link of `trainway dashboard`."""
    with installed(home, variables) as trainway:
        link = trainway.run("dashboard", "--no-open").strip()
        address = link[: link.index("/dashboard")]
        context = browser.new_context()
        page = context.new_page()
        page.goto(link, timeout=TIMEOUT_MS)
        settle(page)
        state = context.storage_state()
        context.close()
        yield Dashboard(trainway, browser, address, state)


@pytest.fixture(scope="module")
def shared_chromium() -> Iterator[Browser]:
    """One browser for all tests of a module.

    Not longer: while there is one, its event loop counts as running in the worker, and a test that
    starts a loop of its own is refused.
    """
    problem = missing()
    if problem:
        unavailable(problem)
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def shared_dashboard(
    shared_chromium: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Dashboard]:
    """One server for all tests that do not need an empty one."""
    with logged_in(shared_chromium, tmp_path_factory.mktemp("dashboard")) as dashboard:
        yield dashboard


@pytest.fixture
def dashboard(shared_dashboard: Dashboard) -> Iterator[Dashboard]:
    """The dashboard, for one test; nothing may be wrong on the consoles of its windows."""
    yield shared_dashboard
    complaints = shared_dashboard.close_windows()
    assert complaints == [], complaints
