"""`autostop`: when an idle cluster stops itself."""

from dataclasses import dataclass
from typing import Any, Final

from trainway.api.task.amounts import MINUTES, minutes
from trainway.schema.shape import COUNT, FLAG, TEXT, Either, Record, Word

DEFAULT_MINUTES: Final = 5
"""Of `autostop: true`, as documented; SkyPilot's code gives 0."""

SHAPE: Final = Either(
    (
        FLAG,
        COUNT,
        MINUTES,
        Record(
            {
                "idle_minutes": COUNT,
                "down": FLAG,
                "wait_for": Word(("jobs_and_ssh", "jobs", "none")),
                "hook": TEXT,
                "hook_timeout": COUNT,
            }
        ),
    )
)


@dataclass(frozen=True)
class Autostop:
    """After how many idle minutes, and what then."""

    idle_minutes: int
    down: bool = False
    wait_for: str = "jobs_and_ssh"


def read(value: Any) -> Autostop | None:
    """Of a value that passed `SHAPE`; None: never."""
    if value is None or value is False:
        return None
    if value is True:
        return Autostop(DEFAULT_MINUTES)
    if isinstance(value, dict):
        return Autostop(
            idle_minutes=int(value.get("idle_minutes", DEFAULT_MINUTES)),
            down=bool(value.get("down")),
            wait_for=str(value.get("wait_for") or "jobs_and_ssh").lower(),
        )
    return Autostop(minutes(value if isinstance(value, str) else int(value)))
