"""On which nodes attempts of jobs have failed lately, and which are better left alone. Pure.

It is told from what is stored of the jobs themselves, so that there is no second book to keep.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from trainway.engine.attempts import ending_cause, ending_words
from trainway.engine.moving.failover import past_endings
from trainway.engine.observation import ENDINGS
from trainway.engine.record import JobRecord
from trainway.engine.recovery.cause import RULES, Cause
from trainway.jobset.status import moment
from trainway.json_types import Json

LATELY: Final = timedelta(days=1)
"""What is told of nodes is not older."""
REPEATEDLY: Final = 3
WITHIN: Final = timedelta(hours=1)
"""A node that loses so many attempts within so long is set aside."""


@dataclass(frozen=True)
class NodeFailure:
    """An attempt of a job that a failure on one node has ended."""

    job: str
    attempt: int
    time: str
    cause: Cause | None
    message: str

    @property
    def is_of_node(self) -> bool:
        """Whether the node is to blame, and not what ran there."""
        return self.cause is not None and RULES[self.cause].blames_node


def failures_by_node(
    records: Iterable[JobRecord], place: str, now: datetime, alone: str = ""
) -> dict[str, list[NodeFailure]]:
    """The failures of each node of a place by its name, oldest first.

    A job may have come from another place, or have gone on to one. Nodes that nobody has named are
    the one that is `alone`.
    """
    found: dict[str, list[NodeFailure]] = {}
    for record in {record.id: record for record in records}.values():
        for ending in endings_at(record, place):
            node, time = str(ending.get("host") or alone), str(ending.get("time") or "")
            if not node or "pod" not in ending or not time or now - moment(time) > LATELY:
                continue
            failure = NodeFailure(
                record.id, int(ending["attempt"]), time, ending_cause(ending), ending_words(ending)
            )
            found.setdefault(node, []).append(failure)
    for failures in found.values():
        failures.sort(key=lambda failure: moment(failure.time))
    return found


def endings_at(record: JobRecord, place: str) -> list[Json]:
    """The attempts of a job that ended at a place, or at a part of it."""
    endings = [*past_endings(record), *(record.observed_data.get(ENDINGS) or ())]
    where = [(str(each.get("place") or record.backend), each) for each in endings]
    return [each for name, each in where if f"{name}/".startswith(f"{place}/")]


def why_set_aside(failures: Sequence[NodeFailure], now: datetime) -> str:
    """Why a node is better left alone, in a sentence; empty: it is not."""
    lost = [each for each in failures if each.is_of_node and now - moment(each.time) <= WITHIN]
    if len(lost) < REPEATEDLY:
        return ""
    jobs = len({each.job for each in lost})
    of = "a job" if jobs == 1 else f"{jobs} jobs"
    return f"it lost {len(lost)} attempts of {of} within an hour, the last one at {lost[-1].time}"


def tally(failures: Iterable[NodeFailure]) -> Mapping[str, int]:
    """How many failures there are of each cause."""
    counts: dict[str, int] = {}
    for failure in failures:
        name = str(failure.cause or "Unknown")
        counts[name] = counts.get(name, 0) + 1
    return counts
