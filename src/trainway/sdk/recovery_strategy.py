"""What follows when the place of a job is lost: the strategies by their names, and a task's own."""

from collections.abc import Sequence
from typing import Final

from trainway.errors import UsageError
from trainway.json_types import Json

FAILOVER: Final = "failover"
EAGER_NEXT: Final = "eager-next"
NONE: Final = "none"
STRATEGIES: Final = (FAILOVER, EAGER_NEXT, NONE)

_TASK: Final = "Task"


def recovery_option(strategy: str | None, objects: Sequence[Json]) -> Json:
    """The option of a submission for a strategy, or else for the one that its task asks for."""
    if strategy is not None and strategy not in STRATEGIES:
        raise UsageError(
            f"{strategy!r} is not a strategy of recovery",
            field="recovery_strategy",
            hint=f"it is one of {', '.join(STRATEGIES)}",
        )
    wanted = strategy or _of_task(objects)
    return {} if wanted is None else {"recovery_strategy": wanted}


def _of_task(objects: Sequence[Json]) -> str | None:
    """The strategy of a file with one task; None: it says nothing."""
    found = next((obj for obj in objects if obj.get("kind") == _TASK), None)
    if found is None:
        return None
    from trainway.api.task import task_object  # noqa: PLC0415 - only for tasks
    from trainway.api.task.recovery import strategy_name  # noqa: PLC0415 - the same

    job, _ = task_object.read(found)
    if job is None or len(job.file.tasks) != 1:
        return None
    return strategy_name(job.file.tasks[0].recovery)
