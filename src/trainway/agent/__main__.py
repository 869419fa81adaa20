"""Start the agent of a job: `python -m trainway.agent [OPTIONS] JOBDIR`.

It detaches itself and returns as soon as the job is under way and can be reached; a lock in the
job's directory makes sure that there is one agent at most. `--recover` goes on with a job whose
agent died; with `--recover --cancel` it starts nothing, but kills what was left and ends the job.
With `--foreground` it stays, for a service manager or a debugger.
"""

from __future__ import annotations

import sys

if not __package__:
    # Run as `python -I -S .../trainway/agent`, which starts faster than `-m`.
    sys.path[0] = __file__.rsplit("/", 3)[0]

import fcntl
import json
import os
import posixpath
from contextlib import suppress

from trainway.agent import linux, process_tree
from trainway.agent.clock import Clock
from trainway.agent.directory import Directory
from trainway.agent.event_loop import EventLoop
from trainway.agent.journal import Journal
from trainway.agent.plan import PlanError, read_plan
from trainway.agent.recovery import Remembered, clear_containers, clear_leftovers
from trainway.agent.supervisor import Supervisor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trainway.agent.plan import Plan

USAGE = "usage: python -m trainway.agent [--recover [--cancel]] [--foreground] JOBDIR"
FLAGS = {"--recover", "--cancel", "--foreground"}
READY = b"ready"
EXIT_ERROR, EXIT_USAGE = 1, 2


class StartError(Exception):
    """The agent cannot start. The message is for whoever started it."""


def main(arguments: Sequence[str]) -> int:
    """Start an agent; the exit status."""
    flags = {item for item in arguments if item.startswith("--")}
    paths = [item for item in arguments if not item.startswith("--")]
    is_clear = "--cancel" not in flags or "--recover" in flags
    if len(paths) != 1 or flags - FLAGS or not is_clear:
        os.write(2, USAGE.encode() + b"\n")
        return EXIT_USAGE
    path = posixpath.abspath(paths[0])
    if "--foreground" in flags:
        return _run(path, flags, lambda _text: None)
    return _detached(path, flags)


def _detached(path: str, flags: set[str]) -> int:
    """Start the agent in a session of its own, and wait until it is ready."""
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        os.waitpid(child, 0)
        with os.fdopen(read, "rb") as report:
            text = report.read()
        if text == READY:
            return 0
        os.write(2, (text or b"the agent died at once: see agent.log") + b"\n")
        return EXIT_ERROR
    os.close(read)
    os.setsid()
    if os.fork():
        os._exit(0)

    def report_to_parent(text: bytes) -> None:
        nonlocal write
        if write < 0:
            return
        with suppress(OSError):  # whoever waited may be gone, which is no reason to stop
            os.write(write, text)
        os.close(write)
        write = -1

    os._exit(_run(path, flags, report_to_parent))


def _run(path: str, flags: set[str], report: Callable[[bytes], None]) -> int:
    """Be the agent."""
    try:
        directory = Directory(path)
        _lock(directory)
        plan = read_plan(directory.read("plan.json"))
    except (OSError, PlanError, StartError) as error:
        report(f"{path}: {error}".encode())
        return EXIT_ERROR
    _use_log(directory)
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
    identity = {"pid": os.getpid(), "boot_id": process_tree.boot_id()}
    event = "started" if remembered is None else "recovered"
    journal.append("agent", {"event": event, **identity})
    journal.records = []
    loop = EventLoop()
    supervisor = Supervisor(plan, directory, loop, journal, clock)
    try:
        supervisor.start(remembered, cancelled="--cancel" in flags)
        supervisor.listen()
        started = {"start_time": process_tree.start_time(os.getpid())}
        directory.replace("agent.json", json.dumps({**identity, **started}).encode())
        report(READY)
        loop.run()
    except Exception as error:
        supervisor.fail(f"the agent failed: {error!r}")
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


def _lock(directory: Directory) -> None:
    """Hold the job's lock for as long as this process lives."""
    fd = directory.open("agent.lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise StartError("an agent runs this job already") from error


def _use_log(directory: Directory) -> None:
    """Let standard input be empty, and all that is printed go to agent.log."""
    log = directory.open("agent.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    for fd in (null, log):
        os.close(fd)


def _remembered(journal: Journal, *, recover: bool) -> Remembered | None:
    """What the journal says of an earlier agent; None where there was none."""
    if not journal.records:
        return None
    if not recover:
        raise StartError("the job was started before: use --recover to go on with it")
    return Remembered(journal.records)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
