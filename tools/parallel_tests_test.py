import re
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast

import pytest

import parallel_tests
from parallel_tests_testing import folder_of_tests, run, summary

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
BREAKS_AT_ITS_END: Final = """
import pytest

@pytest.fixture(scope="session")
def held():
    yield
    raise OSError("not given back")

def test_holds(held): pass
"""
EXITS: Final = "import pytest\ndef test_a(): pytest.exit('enough', returncode={})"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return folder_of_tests(tmp_path)


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
    Case("an exit with a status", EXITS.format(7), (), 7, ""),
    Case("an exit with no error", EXITS.format(0), (), 2, ""),
    Case("a test that ends all", "import pytest\ndef test_a(): pytest.exit('enough')", (), 2, ""),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_status_is_the_one_of_pytest(folder: Path, case: Case) -> None:
    (folder / "some_test.py").write_text(case.tests)
    done = run(folder, *case.options)
    assert done.returncode == case.status
    assert case.end in summary(done.stdout)


def test_a_run_that_a_conftest_ends_before_its_tests_does_not_pass(folder: Path) -> None:
    (folder / "some_test.py").write_text("def test_a(): pass")
    with (folder / "conftest.py").open("a") as conftest:
        conftest.write("def pytest_collection_finish(): pytest.exit('now', returncode=0)\n")
    assert run(folder).returncode == 2
    assert run(folder, "--collect-only").returncode == 0


def test_durations_of_set_ups_are_shown(folder: Path) -> None:
    slow = "import time, pytest\n@pytest.fixture\ndef slow(): time.sleep(0.02)\n"
    (folder / "some_test.py").write_text(slow + "def test_a(slow): pass\n")
    assert re.search(r"0\.\d+s setup +some_test.py::test_a", run(folder, "--durations=5").stdout)


def test_groups_are_in_the_order_of_their_first_tests() -> None:
    def item(mark: Any) -> pytest.Item:
        return cast("pytest.Item", SimpleNamespace(get_closest_marker=lambda _: mark))

    by_place = SimpleNamespace(args=("a",), kwargs={})
    by_name = SimpleNamespace(args=(), kwargs={"name": "a"})
    items = [item(None), item(by_place), item(None), item(by_name)]
    assert parallel_tests.groups_of(items) == [[0], [1, 3], [2]]
