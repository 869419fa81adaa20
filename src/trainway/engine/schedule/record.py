"""A schedule, as it is stored."""

import json
import re
from dataclasses import dataclass
from datetime import datetime, tzinfo
from enum import StrEnum
from typing import Any, Final

from trainway.backends.base import Isolation
from trainway.engine.submission import Submission
from trainway.engine.times import time_text
from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.schedule.cron import Cron, parse_cron
from trainway.schedule.moments import zone_of
from trainway.schedule.rules import CatchUp, Overlap

LONGEST: Final = 63
"""A schedule's name is the value of a label."""
_NAME: Final = re.compile(r"[a-z0-9]([-_.a-z0-9]*[a-z0-9])?", re.ASCII)


class Result(StrEnum):
    """What became of a moment."""

    SUBMITTED = "Submitted"
    SKIPPED = "Skipped"
    FAILED = "Failed"


@dataclass(frozen=True)
class NewSchedule:
    """What somebody wants to be submitted again and again."""

    name: str
    cron: str
    zone: str
    catch_up: CatchUp
    overlap: Overlap
    is_paused: bool
    submission: Submission


@dataclass(frozen=True)
class ScheduleRecord:
    """A row of the store, but for what is submitted."""

    id: str
    name: str
    cron: str
    zone: str
    catch_up: str
    overlap: str
    is_paused: bool
    backend: str
    kind: str
    created: str
    until: str
    """What was due until here is decided."""
    waiting: str = "[]"
    """The moments that were due and for which nothing is submitted yet, as JSON."""
    outcome: str | None = None
    """What became of the last moment, as JSON."""
    request_key: str | None = None
    """The key of the request that made it."""

    @property
    def parsed(self) -> Cron:
        """When it is due, on the clock of a wall."""
        return parse_cron(self.cron)

    @property
    def wall(self) -> tzinfo:
        """Where that wall is."""
        return zone_of(self.zone)

    @property
    def moments(self) -> list[str]:
        """The moments that wait."""
        found: list[str] = json.loads(self.waiting)
        return found

    @property
    def decided(self) -> datetime:
        """`until`, to be compared."""
        return datetime.fromisoformat(self.until)


def check_name(name: str) -> str:
    """The name, if a schedule may be called so."""
    if _NAME.fullmatch(name) and len(name) <= LONGEST:
        return name
    raise UsageError(
        f"a schedule cannot be called {name[:80]!r}",
        field="name",
        hint="small letters, digits, '-', '_' and '.', beginning and ending with a letter or "
        f"digit; at most {LONGEST}",
    )


def key_of(schedule_id: str, moment: str) -> str:
    """The key of the submission for one moment: there can be one job, or run, with it."""
    return f"schedule/{schedule_id}/{moment}"


def compact(moment: str) -> str:
    """A moment as the value of a label."""
    return datetime.fromisoformat(moment).strftime("%Y%m%dT%H%M%SZ")


def moment_text(moment: datetime) -> str:
    """A moment as it is stored."""
    return time_text(moment)


_LEFT_OUT: Final = ("key", "digest", "place", "kept")


def stored_submission(submission: Submission) -> str:
    """What is submitted, as JSON."""
    data: dict[str, Any] = {
        name: value for name, value in vars(submission).items() if name not in _LEFT_OUT
    }
    return json.dumps(data | {"objects": list(submission.objects)})


def read_submission(text: str) -> Submission:
    """The same, from JSON."""
    data: Json = json.loads(text)
    return Submission(**data | {"isolation": Isolation(data["isolation"])})
