"""A pipeline whose tasks may run in several places: each task is placed on its own.

The file is made for every place that a task may go to, and the server keeps all of it: it chooses
the place of a task when its turn comes. Before anything is submitted every place is asked, so that
a task which no place takes is known then.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trainway.errors import InvalidError, TrainwayError
from trainway.families.builtin import HERE
from trainway.json_types import Json
from trainway.sdk.pipelines import PIPELINE, is_pipeline
from trainway.sdk.placement import (
    COST,
    ORDER,
    Placement,
    ask,
    at,
    check_deadline,
    checked,
    is_choice,
    kept,
    placed,
    places_of,
    preferred,
    with_others,
)
from trainway.sdk.rest import Rest, Submission
from trainway.sdk.run_options import RunOptions

if TYPE_CHECKING:
    from trainway.sdk.task_places import TaskPlaces

Maker = Callable[[str], Submission]
"""Makes the whole pipeline for a place."""


@dataclass(frozen=True)
class Wanted:
    """Where a task may run, and what counts between these places."""

    places: Sequence[str]
    prefer: str = ORDER


def own_preference(named: "TaskPlaces") -> str:
    """What counts between the places that a task names itself."""
    return ORDER if named.is_ordered else COST


def wanted_by(named: "Mapping[str, TaskPlaces]") -> dict[str, Wanted]:
    """What the tasks ask for themselves; one that names no place runs here."""
    return {task: Wanted(own.names or (HERE,), own_preference(own)) for task, own in named.items()}


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
    told: Json = {}
    for task, offered in found.items():
        try:
            offered.place()
        except InvalidError as error:
            raise InvalidError(
                [f"{task}: {line}" for line in error.lines], hint=error.hint
            ) from None
        told[task] = {"places": offered.taking, "prefer": wanted[task].prefer}
    first, *others = dict.fromkeys(place for each in told.values() for place in each["places"])
    return first, {
        "placement": told,
        "candidates": [kept(rest, place, made(place)) for place in others if with_files],
    }


def at_own_places(options: RunOptions, own: "Mapping[str, TaskPlaces]") -> RunOptions:
    """The options with the places that a task names itself, where `on` names none."""
    if options.on is not None or len(own) != 1:
        return options
    (named,) = own.values()
    return replace(options, on=named.on, prefer=options.prefer or own_preference(named))


def tasks_placed(
    rest: Rest,
    options: RunOptions,
    made: Callable[[RunOptions], Submission],
    own: "Mapping[str, TaskPlaces]",
    placed: Callable[[Rest, RunOptions, Callable[[RunOptions], Submission]], RunOptions] = placed,
) -> RunOptions:
    """The options with the place that is chosen, or with those of each task of a pipeline.

    Where `on` names no place, those count that the tasks name themselves. `placed` chooses the
    place of something else.
    """
    options = at_own_places(options, own)
    on = options.on

    def there(place: str) -> Submission:
        submission = made(at(options, place))
        if not is_pipeline(submission.objects):
            return submission
        return replace(submission, options={**submission.options, **PIPELINE})

    once = _once(there)
    if on is None and len(own) > 1:
        wanted = wanted_by(own)
        if is_spread(wanted):
            check_deadline(options)
            first, others = spread(rest, wanted, ask_tasks(rest, wanted, once), once)
            return with_others(at(options, first), first, **others)
        (place,) = {place for each in wanted.values() for place in each.places}
        return placed(rest, options if place == HERE else replace(options, on=place), made)
    if on is None or not is_choice(on):
        return placed(rest, options, made)
    check_deadline(options)
    places = places_of(rest, on)
    tasks = _tasks(places, once)
    if not tasks:
        return placed(rest, options, made)
    each = Wanted(places, checked(preferred(on, options.prefer)))
    wanted = dict.fromkeys(tasks, each)
    first, others = spread(rest, wanted, ask_tasks(rest, wanted, once), once)
    sure = on.rpartition(",")[2].strip()
    return with_others(at(options, first), first, **others, sure=sure)


def _tasks(places: Sequence[str], made: Maker) -> list[str]:
    """The tasks of a pipeline; none: it is something else, or cannot be made at all."""
    for place in places:
        try:
            objects = made(place).objects
        except TrainwayError:  # whoever asks the places is told
            continue
        if not is_pipeline(objects):
            return []
        from trainway.sdk.tasks import titles_of  # noqa: PLC0415 - only for pipelines

        return titles_of(objects)
    return []


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
