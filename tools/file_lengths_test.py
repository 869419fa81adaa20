"""A file that people write has at most 400 lines: who looks for one thing finds it in one reading.

A longer one is divided by concept. What a tool writes is not read from top to bottom, and may be as
long as its facts.
"""

from pathlib import Path
from typing import Final

from quick_tests import ROOT

MOST_LINES: Final = 400
FOLDERS: Final = ("src", "test", "tools", "benchmarks", "examples")
EXCEPTIONS: Final = {
    "src/trainway/schema/kubernetes_types.py": (
        "generated: all core types of Kubernetes, one table because they refer to each other"
    ),
}


def too_long(root: Path) -> dict[str, int]:
    """The files of Python below a folder that have too many lines, with their number."""
    lengths = {
        path.relative_to(root).as_posix(): len(path.read_bytes().splitlines())
        for folder in FOLDERS
        for path in (root / folder).rglob("*.py")
    }
    return {name: length for name, length in lengths.items() if length > MOST_LINES}


def test_a_long_file_is_found_wherever_it_is(tmp_path: Path) -> None:
    for name, lines in (("src/a/long.py", 401), ("test/b.py", 400), ("docs/c.py", 500)):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text("x\n" * lines)
    assert too_long(tmp_path) == {"src/a/long.py": 401}


def test_no_file_is_longer_than_one_reading() -> None:
    assert too_long(ROOT).keys() == EXCEPTIONS.keys()
