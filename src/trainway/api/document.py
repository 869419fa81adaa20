"""A document of a text, whatever language it is written in, and where it stands there."""

from typing import Any, Final

Document = tuple[Any, int, int]
"""A value, and the line and column where it starts."""

MAX_DEPTH: Final = 200
"""Levels of nesting: far more than any Kubernetes object has, far fewer than Python can follow."""


def place(text: str, position: int) -> tuple[int, int]:
    """Line and column of a position in a text."""
    before = text[:position]
    return before.count("\n") + 1, position - before.rfind("\n")
