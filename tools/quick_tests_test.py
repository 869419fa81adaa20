"""Which tests belong to a change, and which failures are counted."""

from dataclasses import dataclass

import grimp
import pytest

from quick_tests import quick_tests
from repeat_tests import failed_tests


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("trainway", cache_dir=None)


@dataclass(frozen=True)
class Case:
    id: str
    changed: str
    runs: str
    not_runs: str


CASES = [
    Case("the-module", "engine/queue.py", "engine/queue_test.py", "cli/commands/run_test.py"),
    Case("who-imports-it", "engine/queue.py", "engine/jobs_test.py", "sdk/client_test.py"),
    Case("the-test-itself", "sdk/client_test.py", "sdk/client_test.py", "sdk/sse_test.py"),
    Case("a-package", "errors.py", "sdk/client_test.py", "agent/base/journal_test.py"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_tests_that_import_a_change_run(case: Case, graph: grimp.ImportGraph) -> None:
    tests = quick_tests([f"src/trainway/{case.changed}"], graph)
    assert f"src/trainway/{case.runs}" in tests
    assert f"src/trainway/{case.not_runs}" not in tests


def test_what_no_test_imports_brings_none(graph: grimp.ImportGraph) -> None:
    assert quick_tests(["README.md", "src/trainway/gone.py"], graph) == []


def test_tests_of_pure_packages_are_not_named_twice(graph: grimp.ImportGraph) -> None:
    tests = quick_tests(["src/trainway/jobset/status.py"], graph)
    assert tests
    assert not [path for path in tests if path.startswith("src/trainway/jobset/")]


def test_failures_are_read_from_the_summary_of_pytest() -> None:
    printed = "FAILED a_test.py::test_b[c] - assert 1\nERROR d_test.py - x\n1 failed\n"
    assert failed_tests(printed) == ["a_test.py::test_b[c]", "d_test.py"]
