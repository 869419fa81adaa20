"""What the status of a TrainJob and that of an MPIJob have in common: conditions and times.

Each kind has its own rules for setting a condition; they are in `trainjob_status` and
`mpijob_status`.
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
