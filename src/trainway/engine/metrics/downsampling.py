"""Fewer points of a long series that still show its shape. Pure.

A bucket of level L holds the points whose numbers agree but for their last L bits, and keeps its
first, its last, its smallest and its largest. A bucket of the next level is two of this one, and
what the two keep decides what it keeps. So it does not matter how often a series was thinned
before: every level shows the true extremes of what was reported.
"""

from collections.abc import Iterator, Sequence
from typing import Final, Protocol, TypeVar

BUCKET_POINTS: Final = 4
"""The most that a bucket keeps; nothing can be thinned to fewer."""


class Numbered(Protocol):
    """A point: the number of its report, and a finite value."""

    @property
    def seq(self) -> int:
        """Counts up."""

    @property
    def value(self) -> float:
        """Finite."""


P = TypeVar("P", bound=Numbered)


def thinned(points: Sequence[P], most: int) -> list[P]:
    """At most so many of the points, all on the lowest level that suffices."""
    if most < BUCKET_POINTS:
        raise ValueError(f"a series cannot be thinned to fewer than {BUCKET_POINTS} points")
    kept = list(points)
    level = _first_level(points, most)
    while len(kept) > most:
        kept = survivors(kept, level)
        level += 1
    return kept


def survivors(points: Sequence[P], level: int) -> list[P]:
    """What the buckets of a level keep of points in the order of their numbers."""
    kept: list[P] = []
    for bucket in _buckets(points, level):
        if len(bucket) <= 2:
            kept.extend(bucket)
            continue
        values = [point.value for point in bucket]
        places = {0, len(bucket) - 1, values.index(min(values)), values.index(max(values))}
        kept.extend([bucket[place] for place in sorted(places)])
    return kept


def _buckets(points: Sequence[P], level: int) -> Iterator[Sequence[P]]:
    start, current = 0, None
    for place, point in enumerate(points):
        bucket = point.seq >> level
        if bucket != current:
            if place:
                yield points[start:place]
            start, current = place, bucket
    if points:
        yield points[start:]


def _first_level(points: Sequence[Numbered], most: int) -> int:
    """A level below which next to nothing can be left out, or never enough.

    Of the numbers in a bucket, of which there are two or more, at least two are kept if they are
    there: of n points on level L no fewer than 2n / 2**L.
    """
    if not points:
        return 0
    gap = (points[-1].seq - points[0].seq + 1) // len(points)
    enough = (-(-2 * len(points) // most) - 1).bit_length()
    return max(max(gap, 1).bit_length() + 1, enough)
