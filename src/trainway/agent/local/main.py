"""Starts the agent of a job, as a process that leaves whoever started it.

It detaches itself and returns as soon as the job is under way and can be reached; a lock in the
job's directory makes sure that there is one agent at most. `--recover` goes on with a job whose
agent died; with `--recover --cancel` it starts nothing, but kills what was left and ends the job.
With `--foreground` it stays, for a service manager or a debugger.
"""

from __future__ import annotations

import json
import os
import posixpath

from trainway.agent.base import linux
from trainway.agent.base.clock import Clock
from trainway.agent.base.daemon import (
    EXIT_ERROR,
    EXIT_REFUSED,
    EXIT_USAGE,
    READY,
    REFUSED,
    StartError,
    detached,
    lock,
    use_log,
)
from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.base.journal import Journal
from trainway.agent.base.plan import PlanError, read_plan
from trainway.agent.kubelet import process_tree
from trainway.agent.local.agent import LocalAgent
from trainway.agent.supervisor.recovery import Remembered, begun, clear_containers, clear_leftovers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainway.agent.base.daemon import Report
    from trainway.agent.base.plan import Plan

USAGE = "usage: python -m trainway.agent [--recover [--cancel]] [--foreground] JOBDIR"
FLAGS = {"--recover", "--cancel", "--foreground"}


def main(arguments: Sequence[str]) -> int:
    """Start the agent; the exit status."""
    flags = {item for item in arguments if item.startswith("--")}
    paths = [item for item in arguments if not item.startswith("--")]
    is_clear = "--cancel" not in flags or "--recover" in flags
    if len(paths) != 1 or flags - FLAGS or not is_clear:
        os.write(2, USAGE.encode() + b"\n")
        return EXIT_USAGE
    path = posixpath.abspath(paths[0])
    if "--foreground" in flags:
        return _run(path, flags, lambda _text: None)
    report = detached(lambda report: _run(path, flags, report))
    if report == READY:
        return 0
    is_refused = report.startswith(REFUSED)
    os.write(2, report[len(REFUSED) if is_refused else 0 :] + b"\n")
    return EXIT_REFUSED if is_refused else EXIT_ERROR


def _run(path: str, flags: set[str], report: Report) -> int:
    """Be the agent."""
    try:
        directory = Directory(path)
        lock(directory)
        plan = read_plan(directory.read("plan.json"))
    except (FileNotFoundError, NotADirectoryError, PlanError) as error:
        report(REFUSED + f"{path}: {error}".encode())
        return EXIT_REFUSED
    except (OSError, StartError) as error:
        report(f"{path}: {error}".encode())
        return EXIT_ERROR
    use_log(directory)
    clock = Clock()
    journal = Journal(directory, clock.now)
    try:
        remembered = _remembered(journal, recover="--recover" in flags)
    except StartError as error:
        report(f"{path}: {error}".encode())
        return EXIT_ERROR
    if remembered is not None and remembered.ended:
        report(READY)
        return 0
    _prepare_process(plan, remembered)
    record = begun(is_new=remembered is None or remembered.left)
    journal.append("agent", record)
    journal.records = []
    loop = EventLoop()
    agent = LocalAgent(plan, directory, loop, journal, clock)
    try:
        agent.start(remembered, cancelled="--cancel" in flags)
        agent.listen()
        identity = {
            "pid": record["pid"],
            "boot_id": record["boot_id"],
            "start_time": process_tree.start_time(os.getpid()),
        }
        directory.replace("agent.json", json.dumps(identity).encode())
        report(READY)
        loop.run()
    except Exception as error:
        agent.fail(f"the agent failed: {error!r}")
        raise
    directory.remove("agent.sock")
    return 0


def _prepare_process(plan: Plan, remembered: Remembered | None) -> None:
    """Make this process one that can have pods, and clear away what another one left."""
    os.chdir("/")
    os.umask(0o022)
    try:
        linux.become_subreaper()
    except linux.SystemCallError as error:
        os.write(2, f"orphans cannot be adopted here: {error}\n".encode())
    if remembered is not None:
        left = clear_leftovers(plan.id)
        if left:
            os.write(2, f"processes that cannot be killed: {left}\n".encode())
        failure = clear_containers(plan)
        if failure:
            os.write(2, f"containers that cannot be removed: {failure}\n".encode())


def _remembered(journal: Journal, *, recover: bool) -> Remembered | None:
    """What the journal says of an earlier agent; None where there was none."""
    if not journal.records:
        return None
    if not recover:
        raise StartError("the job was started before: use --recover to continue it")
    return Remembered(journal.records)
