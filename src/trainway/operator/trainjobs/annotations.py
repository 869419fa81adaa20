"""What the operator reads from and writes to the annotations of a TrainJob."""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from trainway.json_types import Json

_LONGEST: Final = 10 * 365 * 24 * 3600
_NUMBER: Final = re.compile(r"[0-9]{1,12}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Setting:
    """A duration that an annotation gives."""

    duration: timedelta | None = None
    """The duration; None if there is no such annotation, or if it cannot be used."""
    problem: str = ""
    """Why it cannot be used."""


def annotation(job: Json, name: str) -> str | None:
    """The text of an annotation."""
    value = (job["metadata"].get("annotations") or {}).get(name)
    return None if value is None else str(value)


def seconds(job: Json, name: str, at_least: int = 0) -> Setting:
    """The duration that an annotation gives in whole seconds."""
    text = annotation(job, name)
    if text is None:
        return Setting()
    if _NUMBER.fullmatch(text) and at_least <= int(text) <= _LONGEST:
        return Setting(timedelta(seconds=int(text)))
    return Setting(
        problem=f"annotation {name} is not used: {text!r} is not a number of seconds"
        f" from {at_least} to {_LONGEST}"
    )
