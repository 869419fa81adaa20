"""Conditions of a status, and the rules by which JobSet sets them.

A condition that is not there is not added as False. Two types that exclude each other are never
both True.
"""

from __future__ import annotations

from trainway.agent.base.clock import rfc3339_seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Condition = dict[str, Any]

STARTUP = {"StartupPolicyInProgress", "StartupPolicyCompleted"}


def find(conditions: list[Condition], type_: str) -> Condition | None:
    """The condition of that type."""
    for condition in conditions:
        if condition["type"] == type_:
            return condition
    return None


def is_true(conditions: list[Condition], type_: str) -> bool:
    """Whether the condition of that type holds."""
    found = find(conditions, type_)
    return found is not None and found["status"] == "True"


def condition(type_: str, holds: bool, reason: str, message: str, now: float) -> Condition:
    """A condition as the API writes it."""
    return {
        "type": type_,
        "status": "True" if holds else "False",
        "lastTransitionTime": rfc3339_seconds(now),
        "reason": reason,
        "message": message,
    }


def set_condition(conditions: list[Condition], new: Condition) -> bool:
    """Put a condition in its place; whether anything changed."""
    changed = False
    for current in conditions:
        exclusive = {current["type"], new["type"]} == STARTUP
        if exclusive and current["status"] == new["status"] == "True":
            current["status"] = "False"
            changed = True
    current = find(conditions, new["type"]) or {}
    if not current:
        if new["status"] == "True":
            conditions.append(dict(new))
            changed = True
        return changed
    if current["status"] == new["status"]:
        new = dict(new, lastTransitionTime=current["lastTransitionTime"])
    if current != new:
        current.update(new)
        changed = True
    return changed
