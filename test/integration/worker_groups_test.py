"""What `conftest.py` does for a run in several workers.

Tests of a group share what is expensive: a cluster, hosts. So they must share a worker, as tests
that share a fixture of their module do, and the unit tests of a file. Every worker collects all
tests: their modules are compiled once, even where Python may write no bytecode.
"""

import gc
import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
TESTS = """
import os
from pathlib import Path

import pytest


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("group", [pytest.param(g, marks=pytest.mark.xdist_group(g)) for g in "ab"])
def test_grouped(group, number):
    with Path(__file__).with_name(group).open("a") as file:
        file.write(os.environ["PYTEST_XDIST_WORKER"] + "\\n")


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
        ran.write(file.name.partition("_")[0] + " " + os.environ["PYTEST_XDIST_WORKER"] + "\\n")
"""


def test_tests_of_a_group_run_in_one_worker_and_are_compiled_once(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((REPOSITORY / "conftest.py").read_text())
    (tmp_path / "grouped_test.py").write_text(TESTS)
    plugins = ("--disable-plugin-autoload", "-p", "xdist.plugin", "-p", "no:cacheprovider")
    words = ("-q", "-n", "2", "--dist", "loadgroup", *plugins, "grouped_test.py")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    workers = {name: (tmp_path / name).read_text().split() for name in ("a", "b", "shared")}
    assert {name: (len(found), len(set(found))) for name, found in workers.items()} == {
        "a": (6, 1),
        "b": (6, 1),
        "shared": (4, 1),
    }
    assert set(workers["a"]) != set(workers["b"])
    assert [path.name for path in (tmp_path / "__pycache__").glob("grouped_test.*")] != []


def test_unit_tests_of_a_file_run_in_one_worker_after_the_long_ones(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((REPOSITORY / "conftest.py").read_text())
    for name in ("src/a_test.py", "src/b_test.py", "test/long_test.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(UNIT_TESTS)
    plugins = ("--disable-plugin-autoload", "-p", "xdist.plugin", "-p", "no:cacheprovider")
    words = ("-q", "-n", "2", "--dist", "loadgroup", "--no-loadscope-reorder", *plugins)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "--import-mode=importlib", "src", "test"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    ran = [line.split() for line in (tmp_path / "ran").read_text().splitlines()]
    workers = {name: [worker for file, worker in ran if file == name] for name, _ in ran}
    assert {name: len(found) for name, found in workers.items()} == {"a": 6, "b": 6, "long": 6}
    assert [len(set(workers[name])) for name in "ab"] == [1, 1]
    assert ran[0][0] == "long"


def test_tests_run_as_python_would_run_them() -> None:
    assert sys.dont_write_bytecode == bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    assert gc.isenabled()
