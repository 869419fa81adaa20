"""A change of state by a table, which says for each state which ones may follow.

A program of several flags has as many states as they have combinations, and most of them make no
sense. So each of our long-lived classes has an enum of the states that it can be in and a table of
what may follow what, in the form of `engine/phases.py`; whatever else would happen is an error of
ours, which ends the job and says so, instead of a job that nobody can explain.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import Enum
    from typing import TypeVar

    S = TypeVar("S", bound=Enum)


class TransitionError(Exception):
    """A state cannot follow the one that was."""


def following(table: Mapping[S, frozenset[S]], now: S, then: S) -> S:
    """The state that follows; a state may always stay."""
    if now is not then and then not in table[now]:
        raise TransitionError(f"{then} cannot follow {now}")
    return then
