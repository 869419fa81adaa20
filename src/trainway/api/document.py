"""A document of a text, whatever language it is written in, and where it stands there."""

from dataclasses import dataclass, field
from typing import Any, Final

from trainway.schema.field import ErrorType, FieldError

Document = tuple[Any, int, int]
"""A value, and the line and column where it starts."""

Place = tuple[int, int]
"""Line and column."""
Steps = tuple[str | int, ...]
"""The keys and indexes that lead to a node of a document."""

MAX_DEPTH: Final = 200
"""Levels of nesting: far more than any Kubernetes object has, far fewer than Python can follow."""


def place(text: str, position: int) -> tuple[int, int]:
    """Line and column of a position in a text."""
    before = text[:position]
    return before.count("\n") + 1, position - before.rfind("\n")


@dataclass
class Places:
    """Where the nodes of one document stand. What an alias or a merge brings in has no place."""

    keys: dict[Steps, Place] = field(default_factory=dict)
    values: dict[Steps, Place] = field(default_factory=dict)

    def of(self, error: FieldError) -> Place | None:
        """Where an error is; of a field that is not there, the place of what it should stand in."""
        steps = tuple(part[0] if isinstance(part, tuple) else part for part in error.path)
        if error.type in (ErrorType.UNKNOWN, ErrorType.FORBIDDEN) and steps in self.keys:
            return self.keys[steps]
        while steps and steps not in self.values:
            steps = steps[:-1]
        return self.values.get(steps)

    def below(self, steps: Steps) -> "Places":
        """The places within one node, as if it were the document."""
        depth = len(steps)
        return Places(
            {name[depth:]: at for name, at in self.keys.items() if name[:depth] == steps},
            {name[depth:]: at for name, at in self.values.items() if name[:depth] == steps},
        )


def place_text(where: Place | None) -> str:
    """`line 3, column 5: `, to stand before a message; empty where the place is not known."""
    return f"line {where[0]}, column {where[1]}: " if where else ""
