"""Preemption with real processes, wherever they run: a job makes room, and goes on by itself."""

from pathlib import Path
from typing import Any, Final

import yaml
from gate import Gate
from installation import Installation
from patience import until

TEAM: Final = "team"


def with_queue(site: Installation, folder: Path, **quota: Any) -> None:
    """A queue with that quota, whose jobs make room for those of higher priority."""
    spec = {"quota": quota, "preemption": "Queue", "gracePeriodSeconds": 60}
    queue = {"apiVersion": "trainway.dev/v1", "kind": "Queue", "metadata": {"name": TEAM}}
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "queue.yaml"
    file.write_text(yaml.safe_dump({**queue, "spec": spec}))
    site.run("queues", "apply", "-f", str(file))


def patient(marks: Path, saved: Path) -> list[str]:
    """A command that on SIGTERM waits until a file is there, and says that it has saved."""
    wait = f"while [ ! -e {saved} ]; do sleep 0.05; done"
    ending = f"{wait}; echo saved >> {marks}; exit 0"
    begin = f"echo begin >> {marks}"
    return ["sh", "-c", f"trap '{ending}' TERM; {begin}; while :; do sleep 0.05; done"]


def plays(site: Installation, on: str, gate: Gate, folder: Path) -> None:
    """One that runs has its grace period, makes room for another, and is the same job again."""
    with_queue(site, folder, jobs=1)
    marks, saved = folder / "marks", folder / "saved"
    options = ("--on", on, "--queue", TEAM)
    low = site.submit(*options, "--priority", "-1", "--name", "low", "--", *patient(marks, saved))
    until(marks.exists, "it does not begin")
    high = site.submit(*options, "--name", "high", "--", *gate.command("high"))
    until(lambda: site.look(low)["status"]["reason"] == "Preempted", "it does not make room")
    assert marks.read_text().split() == ["begin"]
    saved.touch()
    until(lambda: marks.read_text().split() == ["begin", "saved"], "it has no grace period")
    visitor = gate.next()
    visitor.let_go()
    site.run("jobs", "wait", high)
    until(lambda: marks.read_text().split() == ["begin", "saved", "begin"], "it does not go on")
    until(lambda: site.phase(low) == "Running", "it does not run again")
    assert site.job(low)["status"]["restarts"] == 0
    reasons = [event["reason"] for event in site.json("jobs", "events", low)["items"]]
    assert reasons.count("Preempting") == 1
    site.run("jobs", "cancel", low)
