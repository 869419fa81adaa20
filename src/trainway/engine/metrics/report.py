"""What one report of training code says, as numbers that can be drawn. Pure.

A report has the form of Kubeflow Trainer's: metrics are pairs of texts. Values that are no finite
numbers are left out of the history, and so are NaN and infinity, which neither JSON nor an axis
can show; the last report of the job still has them as text.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from trainway.json_types import Json

PROGRESS: Final = "progress"
"""The series of how much is done, in percent."""
STEP_NAMES: Final = ("step", "global_step", "current_step")
"""The last is that of the callback of transformers."""
EPOCH_NAMES: Final = ("epoch", "current_epoch")
NAME_LIMIT: Final = 64
_LARGEST_STEP: Final = 2**63 - 1
LATEST: Final = 253_402_300_800
"""The end of the year 9999, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Position:
    """How far a source was read, as the source itself writes it."""

    source: str
    text: str


@dataclass(frozen=True, slots=True)
class Report:
    """Values of some series at one moment."""

    time: float
    """Seconds since 1970."""
    values: Mapping[str, float]
    step: int | None = None
    epoch: float | None = None
    position: Position | None = None
    """Behind what it was read from, if it was read."""


def report_of(status: Json, noted: str = "") -> Report | None:
    """What a trainer's status reports; `noted` is when, if it does not say so itself.

    None: it has no number that could be kept.
    """
    found = dict(_numbers(status.get("metrics") or ()))
    step, epoch = _step(found), _epoch(found)
    percent = status.get("progressPercentage")
    if percent is not None:
        found.setdefault(PROGRESS, float(percent))
    moment = seconds_of(str(status.get("lastUpdatedTime") or "")) or seconds_of(noted)
    if not found or moment is None:
        return None
    return Report(moment, found, step, epoch)


def report_of_numbers(
    numbers: Mapping[str, float], moment: float, position: Position
) -> Report | None:
    """What numbers say that were read somewhere; None: there is nothing to keep."""
    found = {
        name.strip()[:NAME_LIMIT]: value for name, value in numbers.items() if math.isfinite(value)
    }
    step, epoch = _step(found), _epoch(found)
    found = {name: value for name, value in found.items() if name and name.isprintable()}
    is_kept = bool(found) and 0 < moment < LATEST
    return Report(moment, found, step, epoch, position) if is_kept else None


def _numbers(metrics: Iterable[Mapping[str, Any]]) -> Iterable[tuple[str, float]]:
    for metric in metrics:
        try:
            value = float(metric["value"])
        except ValueError:
            continue
        if math.isfinite(value):
            yield str(metric["name"])[:NAME_LIMIT], value


def _step(found: dict[str, float]) -> int | None:
    """The step that the numbers name, which are without it then."""
    for name in STEP_NAMES:
        value = found.get(name)
        if value is not None and value.is_integer() and abs(value) <= _LARGEST_STEP:
            del found[name]
            return int(value)
    return None


def _epoch(found: dict[str, float]) -> float | None:
    name = next((name for name in EPOCH_NAMES if name in found), None)
    return None if name is None else found.pop(name)


def seconds_of(text: str) -> float | None:
    """A moment in seconds since 1970; None: the text is none, or one that cannot be kept."""
    try:
        moment = datetime.fromisoformat(text.upper())
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    return seconds if 0 < seconds < LATEST else None
