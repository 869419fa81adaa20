"""Walks through the table of a state, for the tests that must come by every change it allows."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import ModuleType
from typing import TypeVar

import pytest

from trainway.agent.base.transitions import following

S = TypeVar("S", bound=Enum)


def edges(table: Mapping[S, frozenset[S]]) -> set[tuple[S, S]]:
    """All changes that a table allows."""
    return {(now, then) for now, ones in table.items() for then in ones}


def refused(table: Mapping[S, frozenset[S]]) -> list[tuple[S, S]]:
    """All changes that it does not."""
    states = list(table)
    return [
        (now, then)
        for now in states
        for then in states
        if now is not then and then not in table[now]
    ]


def walked(patch: pytest.MonkeyPatch, module: ModuleType) -> list[tuple[Enum, Enum]]:
    """The changes that the class of a module makes from now on; what stays as it was is none."""
    seen: list[tuple[Enum, Enum]] = []

    def noted(table: Mapping[S, frozenset[S]], now: S, then: S) -> S:
        found = following(table, now, then)
        if now is not then:
            seen.append((now, then))
        return found

    patch.setattr(module, "following", noted)
    return seen
