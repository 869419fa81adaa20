"""What `conftest.py` does for a run in several processes, of `make test` or of pytest-xdist.

Tests of a group share what is expensive: a cluster, hosts. So they must share a process, as tests
that share a fixture of their module do, and the unit tests of a file. Every worker of pytest-xdist
collects all tests: their modules are compiled once, even where Python may write no bytecode.
"""

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PLUGINS = ("--disable-plugin-autoload", "-p", "xdist.plugin", "-p", "no:cacheprovider")
RUNNERS = pytest.mark.parametrize(
    "runner",
    [
        pytest.param(("--processes", "2"), id="make test"),
        pytest.param(("-n", "2", "--dist", "loadgroup", "--no-loadscope-reorder"), id="xdist"),
    ],
)
TESTS = """
import os
from pathlib import Path

import pytest


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("group", [pytest.param(g, marks=pytest.mark.xdist_group(g)) for g in "ab"])
def test_grouped(group, number):
    with Path(__file__).with_name(group).open("a") as file:
        file.write(f"{os.getpid()}\\n")


@pytest.fixture(scope="module")
def shared():
    return "shared"


@pytest.mark.parametrize("number", range(4))
def test_with_what_the_module_shares(shared, number):
    test_grouped(shared, number)
"""
UNIT_TESTS = """
import os
from pathlib import Path

import pytest


@pytest.mark.parametrize("number", range(6))
def test_it(number):
    file = Path(__file__)
    with (file.parents[1] / "ran").open("a") as ran:
        ran.write(f"{file.name.partition('_')[0]} {os.getpid()}\\n")
"""


def run_in(folder: Path, *words: str, **variables: str) -> None:
    """Run the tests in a folder as those of this repository are run; all must pass."""
    (folder / "conftest.py").write_text((REPOSITORY / "conftest.py").read_text())
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *PLUGINS, *words],
        cwd=folder, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY / "tools")} | variables,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@RUNNERS
def test_tests_of_a_group_run_in_one_process_and_are_compiled_once(
    tmp_path: Path, runner: tuple[str, ...]
) -> None:
    (tmp_path / "grouped_test.py").write_text(TESTS)
    run_in(tmp_path, *runner, "grouped_test.py", PYTHONDONTWRITEBYTECODE="1")
    processes = {name: (tmp_path / name).read_text().split() for name in ("a", "b", "shared")}
    assert {name: (len(found), len(set(found))) for name, found in processes.items()} == {
        "a": (6, 1),
        "b": (6, 1),
        "shared": (4, 1),
    }
    assert set(processes["a"]) != set(processes["b"])
    assert [path.name for path in (tmp_path / "__pycache__").glob("grouped_test.*")] != []


@RUNNERS
def test_unit_tests_of_a_file_run_in_one_process_after_the_long_ones(
    tmp_path: Path, runner: tuple[str, ...]
) -> None:
    for name in ("src/a_test.py", "src/b_test.py", "test/long_test.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(UNIT_TESTS)
    run_in(tmp_path, *runner, "--import-mode=importlib", "src", "test")
    ran = [line.split() for line in (tmp_path / "ran").read_text().splitlines()]
    processes = {name: [process for file, process in ran if file == name] for name, _ in ran}
    assert {name: len(found) for name, found in processes.items()} == {"a": 6, "b": 6, "long": 6}
    assert [len(set(processes[name])) for name in "ab"] == [1, 1]
    assert ran[0][0] == "long"


def test_tests_run_as_python_would_run_them() -> None:
    assert sys.dont_write_bytecode == bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    assert gc.isenabled()
