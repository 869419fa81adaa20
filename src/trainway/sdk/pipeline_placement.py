"""A pipeline whose tasks may run in several places: each task is placed on its own.

The file is made for every place that a task may go to, and the server keeps all of it: it chooses
the place of a task when its turn comes. Before anything is submitted every place is asked, so that
a task which no place takes is known then.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from trainway.errors import InvalidError, TrainwayError
from trainway.families.builtin import HERE
from trainway.json_types import Json
from trainway.sdk.placement import COST, ORDER, Placement, ask, kept
from trainway.sdk.rest import Rest, Submission
from trainway.sdk.task_places import TaskPlaces

Maker = Callable[[str], Submission]
"""Makes the whole pipeline for a place."""


@dataclass(frozen=True)
class Wanted:
    """Where a task may run, and what counts between these places."""

    places: Sequence[str]
    prefer: str = ORDER


def wanted_by(named: Mapping[str, TaskPlaces]) -> dict[str, Wanted]:
    """What the tasks ask for themselves; one that names no place runs here."""
    return {
        task: Wanted(own.names or (HERE,), ORDER if own.is_ordered else COST)
        for task, own in named.items()
    }


def is_spread(wanted: Mapping[str, Wanted]) -> bool:
    """Whether there is more than one place in all."""
    return len({place for each in wanted.values() for place in each.places}) > 1


def ask_tasks(rest: Rest, wanted: Mapping[str, Wanted], made: Maker) -> dict[str, Placement]:
    """What the places offer for each task."""
    once = _once(made)
    return {task: ask(rest, each.places, once, each.prefer, task) for task, each in wanted.items()}


def spread(
    rest: Rest,
    wanted: Mapping[str, Wanted],
    found: Mapping[str, Placement],
    made: Maker,
    *,
    with_files: bool = True,
) -> tuple[str, Json]:
    """The place that the submission is for, and the options that tell of the others.

    Without files it is only looked at, and nothing goes ahead.
    """
    placement: Json = {}
    for task, offered in found.items():
        try:
            offered.place()
        except InvalidError as error:
            raise InvalidError(
                [f"{task}: {line}" for line in error.lines], hint=error.hint
            ) from None
        placement[task] = {"places": offered.taking, "prefer": wanted[task].prefer}
    first, *others = dict.fromkeys(place for each in placement.values() for place in each["places"])
    return first, {
        "placement": placement,
        "candidates": [kept(rest, place, made(place)) for place in others if with_files],
    }


def _once(made: Maker) -> Maker:
    """Make the pipeline once for each place, whatever comes of it."""
    known: dict[str, Submission | TrainwayError] = {}

    def again(place: str) -> Submission:
        if place not in known:
            try:
                known[place] = made(place)
            except TrainwayError as error:
                known[place] = error
        result = known[place]
        if isinstance(result, TrainwayError):
            raise result
        return result

    return again
