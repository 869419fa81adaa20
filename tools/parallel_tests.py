"""A plugin of pytest that runs tests in several processes: `pytest --processes 4`.

pytest-xdist, which does the same, collects all tests in each of its processes, and takes 2.5 ms of
its first one for each test: with 14,000 tests that was a minute of a machine with two cores. Here
tests are collected once, by the process that then forks the others; what these tell is little
(tools/test_process.py), and summary, exit status and `--durations` are pytest's own.

Tests with the same `pytest.mark.xdist_group` run in one process, one after the other; every other
test is a group of its own. A group goes to whichever process has nothing to do. A process that
crashes costs the test that it ran, which counts as failed: another one goes on with the next.
"""

import os
import select
import signal
import sys
import time
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Final, NoReturn

import pytest

import test_process
from test_process import Ended, Finished, Interrupted, Place, Warned

PATIENCE: Final = 60.0
"""Seconds that processes have to tear down what their tests had set up, when all are to end."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare `--processes`."""
    group = parser.getgroup("parallel tests")
    what = "run tests in so many forks of this process, after it has collected them; 0: in itself"
    group.addoption("--processes", type=int, default=0, metavar="N", help=what)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run all tests, unless pytest is to do it itself."""
    option = session.config.option
    is_broken = session.testsfailed and not option.continue_on_collection_errors
    if is_broken or not is_for_us(session.config):
        return None
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.showfspath = False  # tests of several files run at a time
    session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined] # noqa: SLF001 - made before there are forks
    run = session.config.stash[RUN] = Run(session)
    before = signal.signal(signal.SIGINT, run.interrupt)
    try:
        run.go(option.processes)
    finally:
        run.is_ending = True
        run.end()
        signal.signal(signal.SIGINT, before)
    return True


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let no run pass that left out tests, as `pytest.exit` with a status of 0 would."""
    run = session.config.stash.get(RUN, None)
    is_whole = run is not None and not run.left
    if session.exitstatus == pytest.ExitCode.OK and is_for_us(session.config) and not is_whole:
        session.exitstatus = pytest.ExitCode.INTERRUPTED


def is_for_us(config: pytest.Config) -> bool:
    """Whether somebody wants tests to be run here."""
    option = config.option
    return bool(option.processes) and not option.collectonly and not option.usepdb


def groups_of(items: Iterable[pytest.Item]) -> list[list[int]]:
    """The numbers of the tests that stay together, in the order of the first ones."""
    groups: dict[str | int, list[int]] = {}
    for number, item in enumerate(items):
        mark = item.get_closest_marker("xdist_group")
        key = number if mark is None else str(mark.args[0] if mark.args else mark.kwargs["name"])
        groups.setdefault(key, []).append(number)
    return list(groups.values())


@dataclass
class Process:
    """A process with tests."""

    pid: int
    life: int
    """A file that can be read once it has ended."""
    line: Connection
    place: Place
    group: deque[int] = field(default_factory=deque)
    """Its tests that are not over."""
    last: int | None = None
    has_ended: bool = False
    """Whether it has said so itself."""
    fault: str = ""
    """What is wrong with its line, of which nothing is read any more."""
    is_heard: bool = True
    """Whether there may be more to read."""

    def heard(self) -> Iterator[object]:
        """What it has said since; one that cannot be understood any more is killed."""
        try:
            while self.is_heard and self.line.poll():
                yield self.line.recv()
        except (EOFError, ConnectionError):
            self._give_up()
        except Exception as error:  # noqa: BLE001 - half a message can look like anything
            self.fault = f"; what it said broke off: {error!r}"
            self._give_up()

    def _give_up(self) -> None:
        self.is_heard = False
        self.kill()

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        """Send it a signal, if it is still there."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.life, number)


RUN: Final = pytest.StashKey["Run"]()


class Run:
    """All tests of a session, and the processes that have them."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._waiting = deque(groups_of(session.items))
        self.left = len(session.items)
        self._started = 0
        self.processes: list[Process] = []
        self.is_ending = False

    def interrupt(self, _number: int, _frame: object) -> None:
        """Ctrl-C ends a run, and if it is ending already, kills its processes at once."""
        if not self.is_ending:
            raise KeyboardInterrupt
        for process in self.processes:
            process.kill()

    def go(self, count: int) -> None:
        """Run all tests."""
        for _ in range(min(count, len(self._waiting))):
            self._start()
        while self.processes:
            lines = [each.line for each in self.processes if each.is_heard]
            ready = wait([*lines, *(each.life for each in self.processes)])
            for process in list(self.processes):
                if process.line in ready or process.life in ready:
                    self._hear(process, is_over=process.life in ready)
                self._stop_if_asked()
        if self.left:
            raise pytest.UsageError(f"{self.left} tests were collected and did not run")

    def _start(self) -> None:
        """Fork a process, and hand it its first group."""
        ours, theirs = Pipe()
        place = Place()
        self._started += 1
        sys.stdout.flush()
        sys.stderr.flush()
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # until it is in the list
        try:
            pid = fork()
            if pid == 0:
                self._serve(theirs, place, mask, [ours, *(each.line for each in self.processes)])
            theirs.close()
            process = Process(pid, os.pidfd_open(pid), ours, place)
            self.processes.append(process)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        self._hand_out(process)

    def _serve(
        self,
        line: Connection,
        place: Place,
        mask: Iterable[int],
        not_its_own: Iterable[Connection],
    ) -> NoReturn:
        """Be the process that was forked."""
        status = 4
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            for other in not_its_own:
                other.close()
            for process in self.processes:
                os.close(process.life)
            status = test_process.serve(self._session, line, place, self._started)
        finally:
            os._exit(status)

    def _hand_out(self, process: Process) -> None:
        """Give a process that has nothing to do its next group, or let it end."""
        group = self._waiting.popleft() if self._waiting else None
        process.group.extend(group or ())
        with suppress(ConnectionError):  # it has crashed: `_bury` sees to its group
            process.line.send(group)

    def _hear(self, process: Process, *, is_over: bool) -> None:
        """Take in what a process says, and what its end means."""
        for said in process.heard():
            self._take(process, said)
        if is_over:
            self._bury(process)

    def _take(self, process: Process, said: object) -> None:
        match said:
            case Finished(test, reports):
                item = self._session.items[test]
                for each in reports:
                    self._report(test_process.unpacked(each, item))
                self.left -= 1
                item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
                process.last = test
                process.group.remove(test)
                if not process.group:
                    self._hand_out(process)
            case Warned():
                self._warn(said)
            case Interrupted(None):
                raise KeyboardInterrupt
            case Interrupted(why, status):
                raise pytest.exit.Exception(why or "", status)
            case Ended(report):
                process.has_ended = True
                if report is not None and process.last is not None:
                    last = self._session.items[process.last]
                    self._report(test_process.unpacked(report, last))

    def _bury(self, process: Process) -> None:
        """Forget a process that is over; what it left undone goes to another."""
        self.processes.remove(process)
        status = os.waitstatus_to_exitcode(os.waitpid(process.pid, 0)[1])
        process.line.close()
        os.close(process.life)
        self._blame(process, ending(status) + process.fault)
        if process.group:
            self._waiting.appendleft(list(process.group))
        if self._waiting:
            self._start()

    def _blame(self, process: Process, how: str) -> None:
        """Let the test have failed that a process ran when it ended, or had run just before."""
        test = process.place.test
        if test is not None and test in process.group:
            process.group.remove(test)
            self.left -= 1
            self._crashed(test, f"the process that ran this test {how}")
        elif test is not None and not process.has_ended:
            self._crashed(test, f"the process that ran this test {how}, when it was over")
        elif process.group:  # it may be the same with every process: some test has to go
            self.left -= 1
            first = process.group.popleft()
            self._crashed(first, f"the process that was to run this test {how}")

    def _crashed(self, test: int, what: str) -> None:
        item = self._session.items[test]
        text = f"{item.nodeid}: {what}"
        report = pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords={},
            outcome="failed",
            longrepr=text,
            when="call",
        )
        self._report(report)

    def _report(self, report: pytest.TestReport) -> None:
        self._session.config.hook.pytest_runtest_logreport(report=report)

    def _warn(self, said: Warned) -> None:
        message = warnings.WarningMessage(Warning(said.text), Warning, said.file, said.line)
        facts = {"warning_message": message, "when": said.when, "nodeid": said.test}
        hook = self._session.config.hook.pytest_warning_recorded
        hook.call_historic(kwargs={**facts, "location": None})

    def end(self) -> None:
        """Leave no process behind, however a run ends; `interrupt` makes this quick."""
        for process in self.processes:
            process.line.close()
            process.kill(signal.SIGINT)
        until = time.monotonic() + PATIENCE
        for process in self.processes:
            select.select([process.life], [], [], max(0.0, until - time.monotonic()))
        while self.processes:
            process = self.processes.pop()
            process.kill()
            os.waitpid(process.pid, 0)
            os.close(process.life)

    def _stop_if_asked(self) -> None:
        """Stop where pytest has had enough, as with `--maxfail`."""
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)


def ending(status: int) -> str:
    """How a process ended, in words."""
    if status >= 0:
        return f"ended with exit status {status}"
    return f"was killed by {signal.Signals(-status).name}"


def fork() -> int:
    """Fork, whatever threads libraries have started: they take care of themselves."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # Python 3.12 warns where there are threads
        return os.fork()
