"""Averages of what was sampled, and how often one is written down. Pure."""

from __future__ import annotations

SAMPLE_SECONDS = 5.0
LONGEST_PAUSE = 60.0
_PAUSES_AN_AGE = 720.0
_RECORDS_A_SECOND = 2.0


def pause(age: float, pods: int) -> float:
    """Seconds between two records of a job that is so old and has so many pods.

    With 720 records in the first hour, at most one in a minute later, a pod's share of the journal
    is a few megabytes a month.
    """
    least = max(SAMPLE_SECONDS, pods / _RECORDS_A_SECOND)
    return min(max(least, age / _PAUSES_AN_AGE), LONGEST_PAUSE)


class Average:
    """Some values of one figure."""

    def __init__(self) -> None:
        self._sum, self._count = 0.0, 0

    def add(self, value: float) -> None:
        """Take in one more."""
        self._sum += value
        self._count += 1

    @property
    def value(self) -> float:
        """What they come to."""
        return self._sum / self._count
