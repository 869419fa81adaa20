"""A job that counts from its last checkpoint on, and writes one when it is told to end."""

import re
from pathlib import Path
from typing import Final

from installation import Installation
from patience import until

SCRIPT: Final = """
import os
import pathlib
import signal
import sys
import time

from helper import word

out = pathlib.Path(os.environ["TRAINWAY_OUTPUT_DIR"])
checkpoint = out / f"step-{os.environ.get('JOB_COMPLETION_INDEX', 0)}"
step = int(checkpoint.read_text()) if checkpoint.exists() else 0
print(word, "from", step, "on", os.uname().nodename)


def save(*_):
    checkpoint.with_suffix(".new").write_text(str(step))
    checkpoint.with_suffix(".new").rename(checkpoint)
    print("saved", step)
    sys.exit(0)


signal.signal(signal.SIGTERM, save)
while step < int(sys.argv[1]) or not (out / "stop").exists():
    step += 1
    print("step", step)
    time.sleep(0.05)
"""


def numbers(text: str, word: str) -> list[int]:
    return [int(found) for found in re.findall(rf"{word} (\d+)", text)]


def said(home: Installation, job: str) -> str:
    return home.run("jobs", "logs", job, "--all-attempts")


def moved(home: Installation, job: str, place: str) -> None:
    """Wait until a job goes on at a place."""

    def is_there() -> bool:
        shown = home.look(job)
        where = (shown["spec"]["backend"], shown["status"]["phase"])
        return where == (place, "Running") and "move" not in shown["status"]

    until(is_there, f"the job does not go on at {place}")


def steps_on(home: Installation, job: str) -> None:
    """Wait until a job makes steps beyond its last checkpoint."""
    last = max(numbers(said(home, job), "saved"), default=0)
    until(lambda: max(numbers(said(home, job), "step"), default=0) > last, "it makes no steps")


def counter(home: Installation, folder: Path, *options: str) -> str:
    """A job of this machine that counts, from its checkpoint on."""
    (folder / "train.py").write_text(SCRIPT)
    (folder / "helper.py").write_text("word = 'goes'")
    script = str(folder / "train.py")
    job = home.submit(script, "--name", "counter", *options, "--", "5")
    steps_on(home, job)
    return job


def assert_one_history(home: Installation, job: str, places: int) -> None:
    """It went on at each place from where the last one had saved: no step is lost or made twice."""
    text = said(home, job)
    begun = numbers(text, "goes from")
    assert begun == [0, *numbers(text, "saved")]
    assert len(begun) == places
    steps = numbers(text, "step")
    assert steps == list(range(1, len(steps) + 1))
    shown = home.job(job)
    assert (shown["metadata"]["id"], shown["status"]["restarts"]) == (job, 0)
    reasons = re.findall(r"Moving|Moved", home.run("jobs", "events", job))
    assert reasons == ["Moving", "Moved"] * (places - 1)
