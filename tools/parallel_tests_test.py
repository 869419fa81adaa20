import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast

import pytest

import parallel_tests

ROOT: Final = Path(__file__).resolve().parent.parent
LIMIT: Final = 120.0
"""Seconds after which a run that ought to have ended hangs."""
PLUGINS: Final = ("-p", "xdist.plugin", "-p", "_hypothesis_pytestplugin", "-p", "no:cacheprovider")
OUTCOMES: Final = """
import os, signal, time, warnings
import pytest

@pytest.fixture
def broken():
    raise OSError("no set-up")

@pytest.fixture
def breaks():
    yield
    raise OSError("no teardown")

@pytest.mark.parametrize("number", range(20))
def test_passes(number): pass

def test_prints_and_fails():
    print("what it printed")
    assert [1, 2] == [1, 3]

def test_is_skipped(): pytest.skip("not today")

@pytest.mark.xfail(strict=True)
def test_is_expected_to_fail(): assert False

def test_has_no_set_up(broken): pass

def test_has_no_teardown(breaks): pass

@pytest.mark.xdist_group("crash")
def test_before_a_crash(): pass

@pytest.mark.xdist_group("crash")
def test_crashes(): os.kill(os.getpid(), signal.SIGKILL)

@pytest.mark.xdist_group("crash")
def test_after_a_crash(): pass

def test_ends_its_process(): os._exit(0)

def test_warns(): warnings.warn("look here")
"""
GROUPS: Final = """
import os
import pytest

@pytest.mark.parametrize("number", range(40))
@pytest.mark.xdist_group("{group}")
def test_in_a_group(number, tmp_path):
    with open(os.environ["TOLD"], "a") as told:
        told.write(f"{group} {{number}} {{os.getpid()}} {{tmp_path}}\\n")
"""
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
BREAKS_AT_ITS_END: Final = """
import pytest

@pytest.fixture(scope="session")
def held():
    yield
    raise OSError("not given back")

def test_holds(held): pass
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
    """A folder with tests, which is not below one with a conftest.py."""
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\npython_files = *_test.py\nmarkers = engine\n")
    return tmp_path


def command(*more: str) -> list[str]:
    return [sys.executable, "-m", "pytest", "--disable-plugin-autoload", *PLUGINS, "-ra", *more]


def environment(folder: Path) -> dict[str, str]:
    left = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "TRAINWAY_"))}
    own = {"TOLD": str(folder / "told"), "TRAINWAY_FAILED_TESTS": str(folder / "failed")}
    return left | own | {"PYTHONPATH": str(ROOT / "tools")}


def run(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    arguments = command("--processes", "3", *more)
    return subprocess.run(
        arguments, cwd=folder, env=environment(folder), text=True, capture_output=True, check=False
    )


def summary(printed: str) -> str:
    return re.sub(r" in [\d.]+s.*|=", "", printed.splitlines()[-1]).strip()


def test_every_outcome_is_told_as_by_one_process(folder: Path) -> None:
    (folder / "outcomes_test.py").write_text(OUTCOMES)
    done = run(folder)
    expected = "3 failed, 24 passed, 1 skipped, 1 xfailed, 1 warning, 2 errors"
    assert (done.returncode, summary(done.stdout)) == (1, expected)
    for part in (
        "E       assert [1, 2] == [1, 3]",
        "what it printed",
        "OSError: no set-up",
        "OSError: no teardown",
        "test_crashes: the process that ran this test was killed by SIGKILL",
        "test_ends_its_process: the process that ran this test ended with exit status 0",
        ": not today",
        "UserWarning: look here",
        "[100%]",
    ):
        assert part in done.stdout
    names = "crashes ends_its_process has_no_set_up has_no_teardown prints_and_fails"
    wanted = [f"outcomes_test.py::test_{name}" for name in names.split()]
    assert (folder / "failed").read_text().split() == wanted


def test_every_test_runs_once_and_a_group_in_one_process(folder: Path) -> None:
    for group in "abcde":
        (folder / f"{group}_test.py").write_text(GROUPS.format(group=group))
    done = run(folder)
    assert (done.returncode, summary(done.stdout)) == (0, "200 passed")
    told = [line.split() for line in (folder / "told").read_text().splitlines()]
    assert sorted((group, int(number)) for group, number, _, _ in told) == [
        (group, number) for group in "abcde" for number in range(40)
    ]
    assert len({(group, process) for group, _, process, _ in told}) == 5
    assert len({path for _, _, _, path in told}) == 200


@dataclass(frozen=True)
class Case:
    id: str
    tests: str
    options: tuple[str, ...]
    status: int
    end: str


CASES: Final = [
    Case("as many failures as allowed", OUTCOMES, ("-x", "-k", "fails"), 1, "1 failed"),
    Case("what a session holds", BREAKS_AT_ITS_END, (), 1, "1 passed, 1 error"),
    Case("a file that cannot be read", "import nothing_of_that_name", (), 2, "1 error"),
    Case("no test", "", (), 5, "no tests ran"),
    Case("a test that ends all", "import pytest\ndef test_a(): pytest.exit('enough')", (), 2, ""),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_status_is_the_one_of_pytest(folder: Path, case: Case) -> None:
    (folder / "some_test.py").write_text(case.tests)
    done = run(folder, *case.options)
    assert done.returncode == case.status
    assert case.end in summary(done.stdout)


def test_durations_of_set_ups_are_shown(folder: Path) -> None:
    slow = "import time, pytest\n@pytest.fixture\ndef slow(): time.sleep(0.02)\n"
    (folder / "some_test.py").write_text(slow + "def test_a(slow): pass\n")
    assert re.search(r"0\.\d+s setup +some_test.py::test_a", run(folder, "--durations=5").stdout)


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


def status_of(started: subprocess.Popen[Any], limit: float = LIMIT) -> int:
    """How a run has ended, which leaves no process behind; if it does not end, it is killed."""
    try:
        status = started.wait(limit)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        raise
    with pytest.raises(ProcessLookupError):
        os.killpg(started.pid, 0)
    return status


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
        for said in ("waits\n", "gives back\n"):
            assert [told.readline() for _ in range(3)] == [said] * 3
            os.killpg(started.pid, signal.SIGINT)
        assert status_of(started, parallel_tests.PATIENCE / 2) == 2


def test_a_process_that_is_interrupted_twice_gives_back(folder: Path) -> None:
    (folder / "some_test.py").write_text(INTERRUPTED_TWICE)
    assert run(folder).returncode == 2
    assert (folder / "told").read_text() == "given back"


def test_groups_are_in_the_order_of_their_first_tests() -> None:
    def item(mark: Any) -> pytest.Item:
        return cast("pytest.Item", SimpleNamespace(get_closest_marker=lambda _: mark))

    by_place = SimpleNamespace(args=("a",), kwargs={})
    by_name = SimpleNamespace(args=(), kwargs={"name": "a"})
    items = [item(None), item(by_place), item(None), item(by_name)]
    assert parallel_tests.groups_of(items) == [[0], [1, 3], [2]]
