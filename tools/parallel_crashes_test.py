"""What a run comes to whose processes die, hang, are interrupted, or are read by nobody."""

import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Final

import pytest

import parallel_tests
from parallel_tests_testing import command, environment, folder_of_tests, run, status_of, summary

WAITS: Final = """
import os, time
import pytest

@pytest.fixture(scope="session")
def held():
    yield
    with open(os.environ["TOLD"], "a") as told:
        told.write("given back\\n")

@pytest.mark.parametrize("number", range(4))
def test_waits(held, number):
    with open(os.environ["TOLD"], "a") as told:
        told.write("waits\\n")
    time.sleep(600)
"""
NEVER_ENDS: Final = """
import os, time
import pytest

@pytest.fixture(scope="session")
def held():
    yield
    with open(os.environ["TOLD"], "a") as told:
        told.write("gives back\\n")
    time.sleep(600)

@pytest.mark.parametrize("number", range(4))
def test_waits(held, number):
    with open(os.environ["TOLD"], "a") as told:
        told.write("waits\\n")
    time.sleep(600)
"""
INTERRUPTED_TWICE: Final = """
import os, signal
import pytest

@pytest.fixture(scope="session")
def held():
    yield
    with open(os.environ["TOLD"], "a") as told:
        told.write("given back")

def test_is_interrupted_again_at_the_moment_it_would_not_hear_it(held):
    set_handler = signal.signal

    def interrupt(number, handler):
        signal.signal = set_handler
        raise KeyboardInterrupt

    signal.signal = interrupt
    raise KeyboardInterrupt
"""
BREAKS_OFF: Final = """
import os
import test_process

def test_breaks_off(monkeypatch):
    finish = test_process.Teller.finish

    def half(teller, test):
        os.write(teller._line.fileno(), b"\\0\\0\\0\\x60half")
        {then}

    test_process.Teller.finish = half

def test_is_not_hindered(): pass
"""
HANGS: Final = """
import threading

def test_passes(): pass

def test_hangs():
    threading.Event().wait()
"""
HANGS_LATER: Final = """
import threading
import pytest

@pytest.fixture(scope="{scope}")
def held():
    yield
    threading.Event().wait()

def test_holds(held): {body}
"""
FORKS: Final = """
import os
import pytest

@pytest.fixture(scope="session")
def held():
    yield
    with open(os.environ["TOLD"], "a") as told:
        told.write("given back")

@pytest.fixture
def own():
    here = os.getpid()
    yield
    assert os.getpid() == here

def test_forks(held, own):
    child = os.fork()
    if not child:
        {end}
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 70

def test_goes_on(held): pass
"""
DIES_BETWEEN: Final = """
import os
import test_process
import pytest

@pytest.mark.xdist_group("a")
def test_leaves_something_behind():
    finish = test_process.Teller.finish

    def finish_and_die(teller, test):
        finish(teller, test)
        os._exit(3)

    test_process.Teller.finish = finish_and_die

@pytest.mark.xdist_group("a")
def test_comes_next(): pass

def test_comes_last(): pass
"""
DIES_FIRST: Final = """
import os
import test_process

test_process.prepare = lambda *_: os._exit(3)

def test_a(): pass

def test_b(): pass
"""
READS: Final = """
import os
import pytest

@pytest.mark.parametrize("number", range(9))
def test_reads(number):
    with open(os.environ["TOLD"], "rb", buffering=0) as told:
        told.read(1)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return folder_of_tests(tmp_path)


def test_an_interrupted_run_leaves_no_process_and_gives_back(folder: Path) -> None:
    (folder / "waits_test.py").write_text(WAITS)
    os.mkfifo(folder / "told")
    arguments = command("--processes", "3")
    with subprocess.Popen(
        arguments,
        cwd=folder,
        env=environment(folder),
        text=True,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as started:
        with os.fdopen(os.open(folder / "told", os.O_RDWR)) as told:
            assert [told.readline() for _ in range(3)] == ["waits\n"] * 3
            os.killpg(started.pid, signal.SIGINT)  # as a terminal does
            assert [told.readline() for _ in range(3)] == ["given back\n"] * 3
        printed, _ = started.communicate()
    assert started.returncode == 2
    assert "KeyboardInterrupt" in printed
    with pytest.raises(ProcessLookupError):
        os.killpg(started.pid, 0)


@pytest.mark.parametrize(
    ("then", "told"),
    [
        ("os._exit(0)", "ended with exit status 0; what it said broke off: OSError("),
        ("finish(teller, test)", "was killed by SIGKILL; what it said broke off: "),
    ],
)
def test_half_a_message_costs_one_test(folder: Path, then: str, told: str) -> None:
    (folder / "some_test.py").write_text(BREAKS_OFF.format(then=then))
    done = run(folder)
    assert (done.returncode, summary(done.stdout)) == (1, "1 failed, 1 passed")
    assert f"test_breaks_off: the process that ran this test {told}" in done.stdout


def test_a_process_that_dies_between_tests_costs_the_one_that_it_ran(folder: Path) -> None:
    (folder / "some_test.py").write_text(DIES_BETWEEN)
    done = run(folder, "--processes", "1")
    assert (done.returncode, summary(done.stdout)) == (1, "1 failed, 3 passed")
    assert (folder / "failed").read_text() == "some_test.py::test_leaves_something_behind\n"
    assert (
        "the process that ran this test ended with exit status 3, when it was over" in done.stdout
    )


def test_processes_that_never_get_to_a_test_cost_one_each(folder: Path) -> None:
    (folder / "some_test.py").write_text(DIES_FIRST)
    done = run(folder, "--processes", "1")
    assert (done.returncode, summary(done.stdout)) == (1, "2 failed")
    assert "the process that was to run this test ended with exit status 3" in done.stdout


@pytest.mark.parametrize("end", ["raise OSError", "return", "raise KeyboardInterrupt"])
def test_a_fork_of_a_test_tells_nothing_and_gives_nothing_back(folder: Path, end: str) -> None:
    (folder / "forks_test.py").write_text(FORKS.format(end=end))
    done = run(folder, "--processes", "1")
    assert (done.returncode, summary(done.stdout)) == (0, "2 passed")
    assert (folder / "told").read_text() == "given back"


def test_a_test_that_hangs_says_where(folder: Path) -> None:
    (folder / "hangs_test.py").write_text(HANGS)
    option = "faulthandler_timeout=2"
    done = run(folder, "-o", option, "-o", "faulthandler_exit_on_timeout=true")
    assert (done.returncode, summary(done.stdout)) == (1, "1 failed, 1 passed")
    assert re.search(r'hangs_test.py", line 7 in test_hangs', done.stderr)
    assert "test_hangs: the process that ran this test ended with exit status 1" in done.stdout


@pytest.mark.parametrize(
    ("scope", "body", "when", "end"),
    [
        ("function", "assert held", "", "1 failed"),
        ("session", "pass", ", when it was over", "1 failed, 1 passed"),
    ],
)
def test_what_hangs_when_it_is_given_back_says_where(
    folder: Path, scope: str, body: str, when: str, end: str
) -> None:
    (folder / "hangs_test.py").write_text(HANGS_LATER.format(scope=scope, body=body))
    options = ("faulthandler_timeout=2", "faulthandler_exit_on_timeout=true")
    arguments = command("--processes", "1", *(f"--override-ini={each}" for each in options))
    with (
        (folder / "stdout").open("w") as out,
        (folder / "stderr").open("w") as err,
        subprocess.Popen(
            arguments,
            cwd=folder,
            env=environment(folder),
            stdout=out,
            stderr=err,
            start_new_session=True,
        ) as started,
    ):
        assert status_of(started) == 1
    printed = (folder / "stdout").read_text()
    assert summary(printed) == end
    assert f"test_holds: the process that ran this test ended with exit status 1{when}" in printed
    assert re.search(r'hangs_test.py", line 8 in held', (folder / "stderr").read_text())


def test_a_run_ends_when_nobody_reads_what_it_prints(folder: Path) -> None:
    (folder / "reads_test.py").write_text(READS)
    os.mkfifo(folder / "told")
    with subprocess.Popen(
        command("--processes", "3", "-v"),
        cwd=folder,
        env=environment(folder) | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as started:
        assert started.stdout is not None
        with os.fdopen(os.open(folder / "told", os.O_RDWR), "wb", buffering=0) as told:
            while b"collected 9 items" not in started.stdout.readline():
                assert started.poll() is None
            started.stdout.close()
            told.write(b"." * 9)
            assert status_of(started) == 1


def test_who_interrupts_twice_does_not_wait(folder: Path) -> None:
    (folder / "waits_test.py").write_text(NEVER_ENDS)
    os.mkfifo(folder / "told")
    arguments = command("--processes", "3")
    with (
        subprocess.Popen(
            arguments, cwd=folder, env=environment(folder), start_new_session=True
        ) as started,
        os.fdopen(os.open(folder / "told", os.O_RDWR)) as told,
    ):
        assert [told.readline() for _ in range(3)] == ["waits\n"] * 3
        os.kill(started.pid, signal.SIGINT)  # it tells the others: two at once would be one
        assert [told.readline() for _ in range(3)] == ["gives back\n"] * 3
        os.killpg(started.pid, signal.SIGINT)
        assert status_of(started, parallel_tests.PATIENCE / 2) == 2


def test_a_process_that_is_interrupted_twice_gives_back(folder: Path) -> None:
    (folder / "some_test.py").write_text(INTERRUPTED_TWICE)
    assert run(folder).returncode == 2
    assert (folder / "told").read_text() == "given back"
