"""Messages and pages are in plain English, as docs/style.md asks for.

Nobody can test that a sentence reads well. These phrases have been written here before, and none of
them should come back.
"""

import re
from typing import Final

import pytest
from environments import REPOSITORY

BANNED: Final = (
    "listens where it listens",
    "is no amount",
    "can never be had",
    "names no such",
    "is no function",
    "is no trainer",
    "is no whole",
    "are not ours to",
    'no server runs"',
    "the time was over",
    'stands alone"',
    'stands twice"',
    'exclude each other"',
    "does not go with",
    "shown in clear",
    "local files travel",
    "placement comes later",
    "cannot make its pods",
    "keeps it back",
)
BANNED_IN_PAGES: Final = (
    "stand beside",
    "stands twice",
    "can be had",
    "jobs run on;",
    "counts before",
    "shown nowhere",
    "goes with the job",
    "have to say",
    "made anew",
)
WRONG_COUNT: Final = re.compile(r"\b1 (restarts|nodes|jobs|hosts|pods|files|objects|retries)\b")
SOURCES: Final = [
    path
    for path in sorted((REPOSITORY / "src").rglob("*.py"))
    if not path.name.endswith("_test.py") and "testing" not in path.name
]
PAGES: Final = [
    REPOSITORY / "README.md",
    REPOSITORY / "CONTRIBUTING.md",
    REPOSITORY / "charts" / "trainway" / "README.md",
    *(path for path in sorted(REPOSITORY.glob("docs/*.md")) if path.name != "style.md"),
]


@pytest.mark.parametrize("phrase", BANNED)
def test_a_phrase_does_not_come_back(phrase: str) -> None:
    assert [path.name for path in (*SOURCES, *PAGES) if phrase in path.read_text("utf-8")] == []


@pytest.mark.parametrize("phrase", BANNED_IN_PAGES)
def test_a_phrase_does_not_come_back_to_a_page(phrase: str) -> None:
    pages = {path: " ".join(path.read_text("utf-8").split()) for path in PAGES}

    assert [path for path, page in pages.items() if phrase in page] == []


def test_one_is_not_many() -> None:
    for path in (*SOURCES, *PAGES):
        assert WRONG_COUNT.findall(path.read_text("utf-8")) == [], path.name


def test_the_examples_of_the_page_are_ten() -> None:
    page = (REPOSITORY / "docs" / "style.md").read_text("utf-8")
    rows = re.findall(r"^\| `[^|]+` \| `[^|]+` \|$", page, re.MULTILINE)

    assert len(rows) == 10
