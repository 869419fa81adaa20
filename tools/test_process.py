"""A process that `tools/parallel_tests.py` runs tests in: a fork of the one that collected them.

What it tells is what somebody reads: a test that passed is a line of numbers, and only what else
there is to say of a test, or of its fixtures, is a whole report of pytest.
"""

import atexit
import faulthandler
import mmap
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import SimpleNamespace
from typing import Any, Final, Literal

import pytest

QUICK: Final = 0.005
"""Seconds below which `--durations` shows nothing by itself."""

STRAY: Final = 70
"""The exit status of a fork of a test that came back."""


@dataclass(frozen=True)
class Passed:
    """A phase of a test that passed and printed nothing."""

    when: Literal["setup", "call", "teardown"]
    start: float
    duration: float


Told = Passed | dict[str, Any]
"""A report, as it travels."""


@dataclass(frozen=True)
class Finished:
    """A test that is over."""

    test: int
    reports: Sequence[Told]


@dataclass(frozen=True)
class Warned:
    """A warning, which ends up in the summary of all."""

    text: str
    file: str
    line: int
    when: Literal["config", "collect", "runtest"]
    test: str


@dataclass(frozen=True)
class Interrupted:
    """Somebody wants everything to end."""

    why: str | None
    """What `pytest.exit` was told; None for Ctrl-C."""
    status: int | None = None


@dataclass(frozen=True)
class Ended:
    """The process has given back what it held; a report if that went wrong."""

    report: Told | None


class Place:
    """The last test that a process has begun: this is known when it has died, too.

    Memory that it shares costs less than a message for each test.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 8)

    @property
    def test(self) -> int | None:
        """Its number; None before the first one."""
        number = int.from_bytes(self._memory[:], "little")
        return number - 1 if number else None

    @test.setter
    def test(self, test: int) -> None:
        self._memory[:] = (test + 1).to_bytes(8, "little")


class Watchdog:
    """The watch of pytest over tests that hang, where pytest itself does not keep it.

    Pytest ends it when a test fails, before what the test had set up is given back, and has none
    over what is given back at the end of all.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._limit = float(config.getini("faulthandler_timeout") or 0)
        self._ends = bool(config.getini("faulthandler_exit_on_timeout"))
        self._screen = os.dup(2)

    def begin(self) -> None:
        """Watch from now on; the end of a test ends it."""
        if self._limit > 0:
            faulthandler.dump_traceback_later(self._limit, file=self._screen, exit=self._ends)

    @pytest.hookimpl(trylast=True)
    def pytest_exception_interact(self) -> None:
        """Watch on after a failure."""
        self.begin()


class Teller:
    """Says what pytest says of the tests in this process."""

    def __init__(self, line: Connection, slow: float | None) -> None:
        self._line = line
        self._slow = slow
        self._reports: list[Told] = []
        self._home = os.getpid()
        self.is_registered = False
        """Until then pytest repeats old warnings to it."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a report until the test is over."""
        end_stray(self._home)
        told = packed(report, self._slow)
        if told is not None:
            self._reports.append(told)

    def pytest_warning_recorded(
        self,
        warning_message: warnings.WarningMessage,
        when: Literal["config", "collect", "runtest"],
        nodeid: str,
    ) -> None:
        """Tell a warning at once."""
        if not self.is_registered:
            return
        text = f"{warning_message.category.__name__}: {warning_message.message}"
        where = (warning_message.filename, warning_message.lineno)
        self._line.send(Warned(text, *where, when, nodeid))

    def finish(self, test: int) -> None:
        """Tell that a test is over."""
        self._line.send(Finished(test, self._reports))
        self._reports = []


def packed(report: pytest.TestReport, slow: float | None) -> Told | None:
    """A report as it travels; None if nobody asks for it.

    `slow` is how long the set-up or the teardown of a test takes before its duration is shown, None
    where durations are not.
    """
    is_plain = report.passed and not hasattr(report, "wasxfail")
    if not is_plain or report.sections or report.user_properties:
        return report._to_json() | {"$report_type": "TestReport"}  # noqa: SLF001 - as pytest-xdist does
    if report.when != "call" and (slow is None or report.duration < slow):
        return None
    return Passed(report.when, report.start, report.duration)


def unpacked(told: Told, item: pytest.Item) -> pytest.TestReport:
    """The report that travelled."""
    if not isinstance(told, Passed):
        return pytest.TestReport._from_json(told)  # noqa: SLF001 - as pytest-xdist does
    return pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords={},
        outcome="passed",
        longrepr=None,
        when=told.when,
        duration=told.duration,
        start=told.start,
        stop=told.start + told.duration,
    )


class Worker:
    """Runs the groups of tests that come along a line."""

    def __init__(self, session: pytest.Session, line: Connection, place: Place) -> None:
        self._session = session
        self._line = line
        self._place = place
        self.watchdog = Watchdog(session.config)
        self.last: pytest.Item | None = None
        """The last test that was begun."""

    def work(self, number: int) -> None:
        """Run tests until there are none any more."""
        config = self._session.config
        prepare(config, number)
        teller = Teller(self._line, slowness(config))
        config.pluginmanager.register(teller)
        config.pluginmanager.register(self.watchdog)
        teller.is_registered = True
        items = self._session.items
        while (group := self._line.recv()) is not None:
            for place, test in enumerate(group, start=1):
                self.last = items[test]
                self._place.test = test
                following = self._session if place == len(group) else items[group[place]]
                config.hook.pytest_runtest_protocol(item=self.last, nextitem=following)
                teller.finish(test)


def serve(session: pytest.Session, line: Connection, place: Place, number: int) -> int:
    """Run the groups of tests that come along the line, and end with an exit status.

    After a group whatever its tests share is torn down, since nobody knows which one comes next;
    only fixtures of the session stay.
    """
    atexit._clear()  # noqa: SLF001 - what the first process wants to do at its end, it does itself
    os.register_at_fork(after_in_child=line.close)  # or it would stay open when this one has ended
    worker = Worker(session, line, place)
    home = os.getpid()
    status = 0
    try:
        try:
            worker.work(number)
        finally:
            end_stray(home)
            signal.signal(signal.SIGINT, hear_nothing)
    except (KeyboardInterrupt, pytest.exit.Exception) as error:
        signal.signal(signal.SIGINT, hear_nothing)  # a second one may have come before the first
        status = 2
        interrupted = Interrupted(None)
        if isinstance(error, pytest.exit.Exception):
            interrupted = Interrupted(str(error), error.returncode)
        tell(line, interrupted)
    except (EOFError, ConnectionError):
        status = 3  # nobody listens any more
    except BaseException:  # noqa: BLE001 - the first process says that this one failed
        status = 4
        with suppress(OSError):  # nobody may read that either
            traceback.print_exc(file=sys.__stderr__)
    worker.watchdog.begin()
    report = tidy(session, worker.last)
    if status == 0:
        tell(line, Ended(report))
    atexit._run_exitfuncs()  # noqa: SLF001 - os._exit, which has to follow, does not
    return status


def end_stray(home: int) -> None:
    """End the calling process if it is not the one at home.

    A fork that a test has made, and that came back, would tell of tests that it does not run, and
    give back what its parent still has.
    """
    if os.getpid() != home:
        with suppress(OSError):
            os.write(2, b"a fork of a test came back into pytest, and was ended\n")
        os._exit(STRAY)


def hear_nothing(_number: int, _frame: object) -> None:
    """Go on with giving back; unlike SIG_IGN, programs that are started do not inherit this."""


def tidy(session: pytest.Session, last: pytest.Item | None) -> Told | None:
    """Give back what the session holds here; a report on the last test if that went wrong."""

    def give_back() -> None:
        try:
            session._setupstate.teardown_exact(None)  # noqa: SLF001 - pytest has no other word for it
        finally:
            session.config._ensure_unconfigure()  # noqa: SLF001 - see above

    if last is None:
        return None
    call = pytest.CallInfo.from_call(give_back, "teardown")
    if call.excinfo is None:
        return None
    return packed(pytest.TestReport.from_item_and_call(last, call), None)


def tell(line: Connection, what: Interrupted | Ended) -> None:
    """Send something to a process that may be gone."""
    try:
        line.send(what)
    except ConnectionError:
        return


def slowness(config: pytest.Config) -> float | None:
    """How long a set-up takes before it is shown; None if nothing is."""
    if config.option.durations is None:
        return None
    least = config.option.durations_min
    return QUICK if least is None else float(least)


def prepare(config: pytest.Config, number: int) -> None:
    """Let a fork write nothing to the screen, and nothing where others write."""
    manager = config.pluginmanager
    reporter = manager.unregister(name="terminalreporter")
    manager.register(SimpleNamespace(_tw=reporter._tw), "terminalreporter")  # type: ignore[union-attr] # noqa: SLF001 - asked for colours
    capture = manager.getplugin("capturemanager")
    if capture is not None and capture.is_globally_capturing():
        capture.stop_global_capturing()
        capture.start_global_capturing()
        capture.suspend_global_capture()
    folders = config._tmp_path_factory  # type: ignore[attr-defined] # noqa: SLF001 - there is no other way
    folder = folders.getbasetemp() / f"p{number}"
    folder.mkdir(mode=0o700)
    folders._basetemp = folder  # noqa: SLF001 - see above
