"""Screenshots of every page of the dashboard: light, dark, and on a phone.

A server of its own runs jobs that have something to show; the pages are those of the dashboard's
own tables. They are for looking at, and are not committed.
"""

import argparse
import os
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from browser import Dashboard, chromium, logged_in, missing
from dashboard_pages import GROUP, PageEntry, all_pages, job_pages
from installation import Installation
from playwright.sync_api import ViewportSize

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = ROOT / "dashboard/build/screenshots"
TRAINING: Final = textwrap.dedent(
    """
    import math, os, pathlib, sys, time
    rate = float(os.environ.get("TRAINWAY_PARAM_LR", "0.3"))
    for step in range(60):
        loss = math.exp(-step * rate / 3) + 0.05 * math.sin(step)
        print(f"step={step} loss: {loss:.4f} accuracy: {1 - loss / 2:.4f}", flush=True)
    out = pathlib.Path(os.environ["TRAINWAY_OUTPUT_DIR"])
    (out / "checkpoints").mkdir(parents=True, exist_ok=True)
    (out / "checkpoints" / "last.bin").write_bytes(bytes(4096))
    (out / "summary.json").write_text("{}")
    if "fail" in sys.argv:
        raise ValueError("no such column: price")
    while "stay" in sys.argv:
        time.sleep(1)
    """
)


@dataclass(frozen=True)
class Look:
    """How a page is looked at."""

    name: str
    scheme: str
    size: ViewportSize


LOOKS: Final = (
    Look("light", "light", ViewportSize(width=1280, height=900)),
    Look("dark", "dark", ViewportSize(width=1280, height=900)),
    Look("phone", "light", ViewportSize(width=320, height=700)),
)


def main(arguments: list[str]) -> int:
    """Run as a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only pages with this in their name")
    only = parser.parse_args(arguments).only
    problem = missing()
    if problem:
        print(f"There can be no screenshots without {problem}.", file=sys.stderr)
        return 1
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="trainway-shots-") as home,
        chromium() as browser,
        logged_in(browser, Path(home)) as dashboard,
    ):
        pages = with_jobs(dashboard.trainway)
        wanted = [entry for entry in pages if only in entry.name]
        for look in LOOKS:
            shoot(dashboard, wanted, look)
    print(f"{len(wanted) * len(LOOKS)} screenshots are in {FOLDER.relative_to(ROOT)}")
    return 0


def with_jobs(trainway: Installation) -> list[PageEntry]:
    """The pages, of a server with jobs in several phases."""
    shown = ("--metrics-from-logs", "--label", "team=vision")
    program = ("--", "python3", "-c", TRAINING)
    trainway.run("run", "--name", "resnet", "--note", "the baseline", *shown, *program)
    trainway.run("run", "--name", "tabular", *shown, *program, "fail", code=4)
    trainway.run("run", "--name", "rates", "--grid", "LR=0.1,0.2,0.4", *shown, *program)
    trainway.run("run", "examples/pipeline.yaml")
    group = Path(trainway.home, "group.yaml")
    group.write_text(GROUP)
    trainway.run("run", str(group))
    running = trainway.submit(
        "--name", "llama-lora", "--nodes", "2", "--cpus", "500m", *shown, *program, "stay"
    )
    paused = trainway.submit("--name", "evaluate", *program, "stay")
    trainway.run("jobs", "suspend", paused)
    everything = str(len(os.sched_getaffinity(0)))
    trainway.submit("--name", "waits", "--cpus", everything, *program)
    ids = {
        job["metadata"]["name"]: job["metadata"]["id"]
        for job in trainway.json("jobs", "list", "--all")["items"]
    }
    compared = ",".join(ids[f"rates-{number}"] for number in range(3))
    failed = [PageEntry(f"failed-{e.name}", e.path) for e in job_pages(ids["tabular"])[:1]]
    again = PageEntry("rerun", f"/create?from={ids['resnet']}")
    stays = [PageEntry(f"running-{e.name}", e.path) for e in job_pages(running)[:3]]
    return [*all_pages(ids["resnet"], compared, ids["actors"]), *failed, *stays, again]


def shoot(dashboard: Dashboard, pages: list[PageEntry], look: Look) -> None:
    """Save pictures of the pages."""
    window = dashboard.window(color_scheme=look.scheme, viewport=look.size, reduced_motion="reduce")
    page = window.context.new_page()
    for entry in pages:
        window.go(page, entry.path)
        page.wait_for_load_state("load")
        page.screenshot(path=FOLDER / f"{entry.name}-{look.name}.png", animations="disabled")
    for complaint in dashboard.close_windows():
        print(complaint, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
