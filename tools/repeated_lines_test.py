"""No ten lines of ours stand twice: what is decided or written down once, is changed once.

Blank lines and white space do not count, nor do imports: two modules may need the same things.
What a tool writes repeats itself as its facts do.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from file_lengths_test import EXCEPTIONS, FOLDERS
from quick_tests import ROOT

RUN: Final = 10
IMPORT: Final = re.compile(r"(from [\w.]+ )?import \S")


def sources(root: Path) -> Iterator[tuple[str, str]]:
    """The programs that people write, with their text."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix in (".py", ".sh") and name not in EXCEPTIONS:
                yield name, path.read_text()


def counted_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that count, each with its number."""
    is_import = False
    for number, line in enumerate(text.splitlines(), start=1):
        words = " ".join(line.split())
        if is_import or IMPORT.match(words):
            is_import = not words.endswith(")") and (is_import or words.endswith("("))
        elif words:
            yield number, words


def repeated(files: Iterable[tuple[str, str]]) -> list[str]:
    """Where a run of lines stands that was there before, and where that was."""
    first: dict[tuple[str, ...], str] = {}
    found: list[str] = []
    for name, text in files:
        lines = list(counted_lines(text))
        for start in range(len(lines) - RUN + 1):
            run = lines[start : start + RUN]
            place = f"{name}:{run[0][0]}-{run[-1][0]}"
            former = first.setdefault(tuple(line for _, line in run), place)
            if former is not place:
                found.append(f"{place} is {former}")
    return found


@dataclass(frozen=True)
class Case:
    id: str
    texts: dict[str, str]
    found: list[str]


LINES: Final = "\n".join(f"line {number}" for number in range(RUN))
IMPORTS: Final = "from a import (\n" + "".join(f"    B{number},\n" for number in range(12)) + ")\n"
CASES: Final = [
    Case("another file", {"a.py": LINES, "b.py": f"\n{LINES}"}, ["b.py:2-11 is a.py:1-10"]),
    Case("the same file", {"a.py": f"{LINES}\n{LINES}"}, ["a.py:11-20 is a.py:1-10"]),
    Case("deeper", {"a.py": LINES, "b.py": LINES.replace("line", "\n  line")},
         ["b.py:2-20 is a.py:1-10"]),
    Case("nine lines", {"a.py": LINES, "b.py": LINES.replace("line 9", "")}, []),
    Case("imports", {"a.py": IMPORTS, "b.py": IMPORTS}, []),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_stands_twice_is_found(case: Case) -> None:
    assert repeated(case.texts.items()) == case.found


def test_nothing_of_ours_stands_twice() -> None:
    assert repeated(sources(ROOT)) == []
