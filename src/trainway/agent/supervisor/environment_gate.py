"""When the pods of a job with packages may start: once all of them have their environment. Pure.

Each host makes the environment for itself, and some are quicker than others. A pod that has it
says so and waits; its job lets all of them go at once. Whoever comes later waits for nobody who
already runs, and nobody waits for a pod that needs no packages: its init containers may wait for
those that do.
"""

from __future__ import annotations

from trainway.agent.base.labels import ENVIRONMENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.base.plan import Plan
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


def is_waited_for(record: Json, plan: Plan, role: str, *, is_seen: bool) -> bool:
    """Whether the environment of a pod is still made.

    Its host may know better than the plan that it needs none: `is_seen` says that it was heard.
    """
    if not plan.requirements or role in plan.without_packages:
        return False
    if record.get(PREPARED) or has_begun(record):
        return False
    names = [item.get("name") for item in record.get("containers") or []]
    return ENVIRONMENT in names or not is_seen
