"""The place that a job has in an array, as its labels tell it.

Infrastructure that has arrays gets several jobs as one; everywhere else they are jobs like all
others. Pure.
"""

from collections.abc import Mapping

from trainway.backends.base import ArrayPlace
from trainway.jobset.labels import ARRAY, ARRAY_RANK, ARRAY_SIZE, RUN, TASK


def placed(labels: Mapping[str, str], place: ArrayPlace | None, run: str = "") -> dict[str, str]:
    """Labels of a job of that run that has that place, whatever they said of another one."""
    ours = (ARRAY, ARRAY_RANK, ARRAY_SIZE)
    others = {name: text for name, text in labels.items() if name not in (*ours, RUN)}
    if run:
        others[RUN] = run
    else:
        others.pop(TASK, None)
    if place is None:
        return others
    return {**others, **dict(zip(ours, map(str, (place.id, place.rank, place.count)), strict=True))}


def place_of(labels: Mapping[str, str]) -> ArrayPlace | None:
    """The place that a job has, as its labels say."""
    if ARRAY not in labels:
        return None
    return ArrayPlace(labels[ARRAY], int(labels[ARRAY_RANK]), int(labels[ARRAY_SIZE]))
