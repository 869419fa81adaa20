"""What the status of a TrainJob and that of an MPIJob have in common: conditions and times.

`set_condition` has the rule of Kubernetes. Two others stand apart on purpose, since clusters differ
in just that, and recorded cases prove it: MPI Operator moves what has changed to the end and keeps
a message while the reason stays (`mpijob_status`), and JobSet never adds a condition that does not
hold (`agent/controllers/conditions.py`, which agents can import).
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from trainway.json_types import Json


def timestamp(moment: datetime) -> str:
    """A time as Kubernetes writes it: in UTC, to the second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(text: str) -> datetime:
    """The time that Kubernetes wrote."""
    return datetime.fromisoformat(text)


def conditions_of(obj: Mapping[str, Any] | None) -> list[Json]:
    """The conditions in the status of an object."""
    return ((obj or {}).get("status") or {}).get("conditions") or []


def find_condition(conditions: Iterable[Json], type_: str) -> Json | None:
    """The condition of that type."""
    return next((condition for condition in conditions if condition.get("type") == type_), None)


def find_true(conditions: Iterable[Json], type_: str) -> Json | None:
    """The condition of that type, if it holds."""
    found = find_condition(conditions, type_)
    return found if found is not None and found.get("status") == "True" else None


def with_transition(condition: Json, former: Json | None, now: datetime) -> Json:
    """The condition with the time of its last transition.

    That time is kept while the status stays the same. Otherwise it is the one that the condition
    brings, or now.
    """
    if former is not None and former.get("status") == condition["status"]:
        since = former.get("lastTransitionTime")
    else:
        since = condition.get("lastTransitionTime")
    return {**condition, "lastTransitionTime": since or timestamp(now)}


def set_condition(conditions: list[Json], condition: Json, now: datetime) -> list[Json]:
    """The conditions with this one in the place of the one of the same type, or at the end."""
    former = find_condition(conditions, condition["type"])
    changed = with_transition(condition, former, now)
    if former is None:
        return [*conditions, changed]
    return [changed if item is former else item for item in conditions]
