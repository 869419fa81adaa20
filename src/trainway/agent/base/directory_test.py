import contextlib
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.agent.base.directory import Directory


@dataclass(frozen=True)
class Case:
    name: str
    make: Callable[[Path], object]
    path: str = "logs/file"


def linked(path: Path) -> None:
    path.parent.rmdir()
    path.parent.symlink_to(path.parents[1] / "elsewhere")


CASES = [
    Case("a pipe", os.mkfifo),
    Case("a link", lambda path: path.symlink_to("../elsewhere/file")),
    Case("a link above it", linked),
    Case("a directory", Path.mkdir),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_RDWR | os.O_CREAT | os.O_APPEND])
def test_only_regular_files_are_opened(tmp_path: Path, case: Case, flags: int) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").touch()
    case.make(tmp_path / "logs" / "file")
    before = open_files()
    directory = Directory(str(tmp_path))
    with pytest.raises(OSError, match=r".*"):
        directory.open_regular(case.path, flags)
    directory.close()
    assert open_files() <= before, "something is left open"


def open_files() -> Counter[str]:
    """What this process has open; others of its tests may close what is theirs at any time."""
    found: Counter[str] = Counter()
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):
            found[os.readlink(f"/proc/self/fd/{name}")] += 1
    return found


def test_a_regular_file_is_opened_and_made(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    directory = Directory(str(tmp_path))
    fd = directory.open_regular("logs/file", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    os.write(fd, b"text")
    os.close(fd)
    assert directory.read("logs/file") == b"text"
    directory.close()


def test_nobody_waits_for_the_writer_of_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "plan.json")
    directory = Directory(str(tmp_path))
    with pytest.raises(OSError, match="not a regular file"):
        directory.read("plan.json")
    directory.close()
