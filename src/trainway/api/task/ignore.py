"""Which files of a workdir travel: the rules of `.skyignore`, as a pure matcher.

Where a folder has a `.skyignore`, its lines are patterns below that folder; otherwise the rules of
`.gitignore` count. Both are read as git reads them: `*` stops at `/`, `**` does not, a pattern with
a `/` before its end is anchored, one that ends with `/` is for folders, and `!` takes a file back.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

SKYIGNORE: Final = ".skyignore"
GITIGNORE: Final = ".gitignore"
_ALWAYS: Final = (".git",)


@dataclass(frozen=True)
class Rule:
    """One line."""

    expression: re.Pattern[str]
    is_negated: bool = False
    folders_only: bool = False


@dataclass(frozen=True)
class Ignore:
    """The rules of one file; the last that matches decides."""

    rules: tuple[Rule, ...]

    def excludes(self, path: str, *, is_folder: bool = False) -> bool:
        """Whether a path below the folder of the rules stays behind."""
        parts = path.strip("/").split("/")
        for depth in range(1, len(parts) + 1):
            folder = is_folder if depth == len(parts) else True
            if self._matches("/".join(parts[:depth]), is_folder=folder):
                return True
        return False

    def _matches(self, path: str, *, is_folder: bool) -> bool:
        excluded = path in _ALWAYS
        for rule in self.rules:
            if (is_folder or not rule.folders_only) and rule.expression.fullmatch(path):
                excluded = not rule.is_negated
        return excluded


def parse(lines: Iterable[str]) -> Ignore:
    """The rules of a file."""
    return Ignore(tuple(rule for line in lines if (rule := _rule(line.rstrip("\r\n"))) is not None))


def chosen(names: Sequence[str]) -> str | None:
    """Which of the files in a folder has its rules: .skyignore before .gitignore."""
    return next((name for name in (SKYIGNORE, GITIGNORE) if name in names), None)


def _rule(line: str) -> Rule | None:
    text = re.sub(r"(?<!\\) +$", "", line)
    if not text or text.startswith("#"):
        return None
    is_negated = text.startswith("!")
    text = text.removeprefix("!") if is_negated else text
    folders_only = text.endswith("/")
    text = text.rstrip("/") if folders_only else text
    text = text.removeprefix("./")
    if not text.strip("/"):
        return None
    anchored = "/" in text
    text = re.sub(r"(\*\*/)+", "**/", text)
    expression = _expression(text.lstrip("/"))
    prefix = "" if anchored else "(?:.*/)?"
    return Rule(re.compile(prefix + expression, re.DOTALL), is_negated, folders_only)


def _expression(pattern: str) -> str:
    """The pattern as a regular expression."""
    result, position = "", 0
    while position < len(pattern):
        rest = pattern[position:]
        if rest.startswith("**/"):
            result, position = result + "(?:.*/)?", position + 3
        elif rest.startswith("**"):
            result, position = result + ".*", position + 2
        elif rest[0] in "*?":
            result, position = result + ("[^/]*" if rest[0] == "*" else "[^/]"), position + 1
        elif rest[0] == "[" and (match := re.match(r"\[([!^]?)(\]?[^\]/]*)\]", rest)):
            result += _char_class(match[1], match[2])
            position += match.end()
        elif rest[0] == "\\" and len(rest) > 1:
            result, position = result + re.escape(rest[1]), position + 2
        else:
            result, position = result + re.escape(rest[0]), position + 1
    return result


def _char_class(negation: str, members: str) -> str:
    escaped = members.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    escaped = (
        escaped.replace("^", "\\^").replace("&", "\\&").replace("~", "\\~").replace("|", "\\|")
    )
    candidate = f"[{'^' if negation else ''}{escaped}]"
    try:
        re.compile(candidate)
    except re.error:  # such as a range that runs backwards, which matches nothing
        return "(?!)"
    return candidate
