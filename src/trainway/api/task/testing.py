"""Cases for more than one test: of texts, and of `.skyignore`, about which git is asked too."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """A text, and what is to come of it."""

    name: str
    text: str
    expected: Any


@dataclass(frozen=True)
class Ignored:
    """Rules, and which paths they keep and leave out."""

    name: str
    rules: str
    kept: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


IGNORED = [
    Ignored("name anywhere", "*.log", kept=("a.txt", "log"), left=("x.log", "a/b/x.log")),
    Ignored("anchored", "/build", kept=("a/build/f",), left=("build/f",)),
    Ignored("slash inside anchors", "a/b", kept=("x/a/b/f",), left=("a/b/f",)),
    Ignored("folder only", "data/", kept=("a/data",), left=("data/f", "x/data/f")),
    Ignored("taken back", "*.log\n!keep.log", kept=("keep.log",), left=("other.log",)),
    Ignored("not below a folder", "d/\n!d/keep", left=("d/keep",)),
    Ignored("two stars", "a/**/z", kept=("a/zz", "b/z"), left=("a/z", "a/b/c/z")),
    Ignored("two stars behind", "a/**", kept=("b/a",), left=("a/f", "a/b/c")),
    Ignored("two stars before", "**/z", left=("z", "a/z")),
    Ignored("one star stops", "a/*", kept=("b",), left=("a/f", "a/b/c")),
    Ignored("question mark", "?.txt", kept=("ab.txt",), left=("a.txt",)),
    Ignored("class", "[ab].txt", kept=("c.txt",), left=("a.txt",)),
    Ignored("negated class", "[!ab].txt", kept=("a.txt",), left=("c.txt",)),
    Ignored("comment and blank", "# x\n\n", kept=("# x",)),
    Ignored("escaped", "\\#x\n\\!y", left=("#x", "!y")),
    Ignored("trailing space", "a \nb\\ ", kept=("b",), left=("a", "b ")),
    Ignored("dot is a dot", "a.b", kept=("axb",), left=("a.b",)),
]
