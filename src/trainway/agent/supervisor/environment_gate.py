"""When the pods of a job with packages may start: once all of them have their environment. Pure.

Each host makes the environment for itself, and some are quicker than others. A pod that has it
says so and waits; its job lets all of them go at once. Whoever comes later waits for nobody who
already runs.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainway.json_types import Json

PREPARED = "prepared"


def has_begun(record: Json) -> bool:
    """Whether a main container of a pod was started."""
    mains = [item for item in record.get("containers") or [] if not item.get("kind")]
    is_waiting = all(item.get("state") == "waiting" for item in mains)
    return record.get("phase") != "Pending" or not is_waiting


def is_held(record: Json) -> bool:
    """Whether a pod waits to be let go."""
    return bool(record.get(PREPARED)) and not has_begun(record)


def may_all_go(records: Iterable[Json]) -> bool:
    """Whether no pod is left whose environment is still made."""
    return all(record.get(PREPARED) or has_begun(record) for record in records)
