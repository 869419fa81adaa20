"""Runs of pytest in several processes, for the tests of `parallel_tests.py`."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).resolve().parent.parent
LIMIT: Final = 120.0
"""Seconds after which a run that ought to have ended hangs."""
PLUGINS: Final = ("-p", "xdist.plugin", "-p", "_hypothesis_pytestplugin", "-p", "no:cacheprovider")


def folder_of_tests(tmp_path: Path) -> Path:
    """A folder with tests, which is not below one with a conftest.py."""
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\npython_files = *_test.py\nmarkers = engine\n")
    return tmp_path


def command(*more: str) -> list[str]:
    """Pytest with its options, and more of them."""
    return [sys.executable, "-m", "pytest", "--disable-plugin-autoload", *PLUGINS, "-ra", *more]


def environment(folder: Path) -> dict[str, str]:
    """What a run sees; its tests write to the file that TOLD names."""
    left = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "TRAINWAY_"))}
    own = {"TOLD": str(folder / "told"), "TRAINWAY_FAILED_TESTS": str(folder / "failed")}
    return left | own | {"PYTHONPATH": str(ROOT / "tools")}


def run(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a folder in three processes."""
    arguments = command("--processes", "3", *more)
    return subprocess.run(
        arguments, cwd=folder, env=environment(folder), text=True, capture_output=True, check=False
    )


def summary(printed: str) -> str:
    """The last line of what pytest prints, without the time it took."""
    return re.sub(r" in [\d.]+s.*|=", "", printed.splitlines()[-1]).strip()


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
