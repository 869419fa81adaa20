"""A browser that measures: pages that nobody has opened before, and what they cost.

Times are taken in the page, by its own clock, which begins with the navigation: what the browser is
told from outside, and when, does not count. A page is looked at whenever it draws.

The browser is open already, as somebody's is who follows a link, but has nothing of the dashboard:
each visit has a profile of its own, with neither files nor compiled code in its caches. Its window
is empty at first, and the navigation begins when the browser has done with opening it: Chromium
draws a new window with pages of its own, which take more of the processor than a page of ours.
Every request that is counted is told to us, so a visit that counts is not timed.
"""

import contextlib
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import (
    Browser,
    CDPSession,
    Page,
    StorageState,
    ViewportSize,
    sync_playwright,
)

from benchmarks.cpu_load import own_cpu_s
from benchmarks.workbench import trainway

CHROMIUM: Final = shutil.which("chromium")
PATIENCE_MS: Final = 60_000
VIEW: Final = ViewportSize(width=1440, height=900)
_LOOK_S, _BUSY, _MOST_S = 0.4, 0.1, 5.0
"""A browser has done what it was told when it used less of a core than that, for so long."""
_ROWS: Final = 10
"""So many rows make a list."""
_WATCH: Final = """
(() => {
  const seen = (window.trainwaySeen = { rows: 0, operable: 0, lines: 0 });
  const rows = () => document.querySelectorAll(".tw-job-table [data-row] a[href]").length;
  const press = () => {
    window.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }));
    if (document.activeElement?.closest("[data-row]")) seen.operable = performance.now();
    else setTimeout(press, 4);
  };
  const look = () => {
    const search = document.querySelector("[data-search] input:enabled");
    if (!seen.rows && search && rows() >= ROWS) {
      seen.rows = performance.now();
      setTimeout(press);
    }
    if (!seen.lines && document.querySelectorAll(".tw-log .tw-line").length >= ROWS)
      setTimeout(() => (seen.lines ||= performance.now()));
    if (!seen.operable && !seen.lines) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})();
""".replace("ROWS", str(_ROWS))
"""Notes when rows are drawn, and when one of them has got the focus by a key; or lines of a log."""
_SEEN: Final = """
([what, patience]) => new Promise((resolve, reject) => {
  const look = () => {
    if (window.trainwaySeen[what]) resolve(window.trainwaySeen[what]);
    else if (performance.now() > patience) reject(new Error(`the page never had ${what}`));
    else setTimeout(look, 50);
  };
  look();
})
"""
_ACT: Final = """
([act, argument]) => new Promise((resolve, reject) => {
  const table = () => document.querySelector(".tw-job-table");
  const count = () => Number(table()?.getAttribute("aria-rowcount") ?? 1) - 1;
  const set = (field, value) => {
    const kind = field.tagName === "SELECT" ? HTMLSelectElement : HTMLInputElement;
    Object.getOwnPropertyDescriptor(kind.prototype, "value").set.call(field, value);
    const type = field.tagName === "SELECT" ? "change" : "input";
    field.dispatchEvent(new Event(type, { bubbles: true }));
  };
  const drawn = () => {
    const box = table()?.getBoundingClientRect();
    if (!box) return null;
    const rows = [...document.querySelectorAll(".tw-job-table [data-row]")].filter((row) => {
      const place = row.getBoundingClientRect();
      return place.bottom > box.top + 45 && place.top < box.bottom;
    });
    return rows.length > 0 && rows.every((row) => row.querySelector("a[href]")) ? rows : null;
  };
  const before = count();
  const first = () => drawn()?.[0]?.getAttribute("aria-rowindex") ?? "";
  const place = first();
  const begun = performance.now();
  if (act === "scroll") table().scrollTop = argument;
  else {
    const field = document.querySelector(`[aria-label="${argument[0]}"]`);
    if (act === "type") field.focus();
    set(field, argument[1]);
    if (act === "enter") {
      const key = { key: "Enter", bubbles: true };
      setTimeout(() => field.dispatchEvent(new KeyboardEvent("keydown", key)));
    }
  }
  const look = () => {
    const isDone = act === "scroll" ? drawn() && first() !== place : drawn() && count() !== before;
    if (isDone) resolve([performance.now() - begun, count()]);
    else if (performance.now() - begun > 20000)
      reject(new Error(`nothing came of ${act} ${argument}`));
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})
"""
"""Scrolls or filters; resolves with the milliseconds until the rows in sight are the new ones."""


class UnavailableError(Exception):
    """There is no browser, or no dashboard to open in it."""


class Traffic:
    """What comes over the wire for a page."""

    def __init__(self, session: CDPSession) -> None:
        self._kinds: dict[str, str] = {}
        self.bytes: Counter[str] = Counter()
        """So far, with headers, by kind."""
        session.on("Network.responseReceived", self._received)
        session.on("Network.loadingFinished", self._finished)
        session.send("Network.enable")

    def _received(self, event: dict[str, Any]) -> None:
        self._kinds[event["requestId"]] = event["type"]

    def _finished(self, event: dict[str, Any]) -> None:
        kind = self._kinds.get(event["requestId"], "Other")
        self.bytes[kind] += int(event["encodedDataLength"])


class Visit:
    """A page in a browser that has never been there; only its session is known."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def until(self, what: str) -> float:
        """The seconds from the navigation until that was seen."""
        return float(self.page.evaluate(_SEEN, [what, PATIENCE_MS])) / 1000

    def act(self, act: str, argument: object) -> tuple[float, int]:
        """The milliseconds that it takes to scroll or to filter, and how many rows there are."""
        took, count = self.page.evaluate(_ACT, [act, argument])
        return float(took), int(count)


class Visitor:
    """Opens pages of one server."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._address, self._state = self._log_in()

    def _log_in(self) -> tuple[str, StorageState]:
        link = trainway("dashboard", "--no-open").strip()
        context = self._browser.new_context()
        page = context.new_page()
        page.goto(link)
        if page.locator("h1").first.inner_text() == "The dashboard is not built":
            raise UnavailableError("the dashboard is not built (make dashboard)")
        state = context.storage_state()
        context.close()
        return link[: link.index("/dashboard")], state

    @contextlib.contextmanager
    def visit(self, path: str) -> Iterator[Visit]:
        """A page, opened with nothing in the cache."""
        with self._empty_window() as page:
            _come_to_rest()
            page.goto(self._url(path), wait_until="commit")
            yield Visit(page)

    def bytes(self, path: str) -> Counter[str]:
        """What a first visit to a page takes, by kind, until it asks for nothing more."""
        with self._empty_window() as page:
            traffic = Traffic(page.context.new_cdp_session(page))
            page.goto(self._url(path), wait_until="networkidle")
            return traffic.bytes

    @contextlib.contextmanager
    def _empty_window(self) -> Iterator[Page]:
        context = self._browser.new_context(storage_state=self._state, viewport=VIEW)
        try:
            context.set_default_timeout(PATIENCE_MS)
            context.add_init_script(_WATCH)
            yield context.new_page()
        finally:
            context.close()

    def _url(self, path: str) -> str:
        return f"{self._address}/dashboard{path}"

    def renderers(self) -> dict[int, float]:
        """The processes that draw pages, and the megabytes that each has of its own."""
        session = self._browser.new_browser_cdp_session()
        found = session.send("SystemInfo.getProcessInfo")["processInfo"]
        session.detach()
        return {
            each["id"]: proportional_mb(each["id"])
            for each in found
            if each["type"] == "renderer" and Path(f"/proc/{each['id']}").exists()
        }


@contextlib.contextmanager
def visitor() -> Iterator[Visitor]:
    """A browser that is logged in to the server."""
    if CHROMIUM is None:
        raise UnavailableError("chromium: not found (Debian: chromium)")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []  # which root cannot use
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        try:
            yield Visitor(browser)
        finally:
            browser.close()


def _come_to_rest() -> None:
    """Wait until the browser has opened its window, and whatever it does beside that."""
    us = os.getpid()
    end, before = time.monotonic() + _MOST_S, own_cpu_s(besides=us)
    while time.monotonic() < end:
        time.sleep(_LOOK_S)
        now = own_cpu_s(besides=us)
        if now - before < _BUSY * _LOOK_S:
            return
        before = now


def proportional_mb(pid: int) -> float:
    """The memory of a process; what it shares with others counts in part."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    (size,) = (line.split()[1] for line in lines if line.startswith("Pss:"))
    return int(size) / 1024
