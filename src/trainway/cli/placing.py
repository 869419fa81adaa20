"""Which of several places a job goes to, as `run` chooses it and `plan` shows it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from trainway.cli.columns import Columns
from trainway.cli.connection import connect
from trainway.cli.deadline_option import deadline_sent
from trainway.cli.output import echo_line
from trainway.cli.run_submission import made_objects, submission_options, task_places
from trainway.cli.times import parse_duration
from trainway.errors import UsageError
from trainway.families.builtin import HERE
from trainway.json_types import Json
from trainway.sdk.manifests import Wishes
from trainway.sdk.pipeline_placement import Wanted, ask_tasks, is_spread, spread, wanted_by
from trainway.sdk.placement import (
    ANY,
    Placement,
    ask,
    candidates,
    is_recovered,
    places_of,
    preferred,
)
from trainway.sdk.rest import Rest, Submission
from trainway.sdk.slurm_options import counts_at
from trainway.sdk.task_places import TaskPlaces

_HEADER: Final = ("", "PLACE", "FITS", "PRICE", "AHEAD", "WHY")


def placed(
    targets: tuple[str, ...],
    words: list[str] | None,
    wishes: Wishes,
    options: dict[str, Any],
    several: Json,
) -> Wishes:
    """The wishes with the place that is chosen; the table of all of them goes to stderr."""
    found = _shown(placement(targets, words, wishes, options, several))
    place = found.place()
    wait = options.get("max_wait")
    options["max_wait_s"] = None if wait is None else parse_duration(wait)
    made = _maker(connect(), targets, words, wishes, options, several)
    # A task of a search asks for it in vain: its trials stay where they are submitted.
    is_asked = "search" not in several or options.get("recovery_strategy") is not None
    has_deadline = options.get("deadline") is not None
    may_go_on = has_deadline or wait is not None or (is_asked and is_recovered(made(place)))
    if may_go_on and not options.get("dry_run"):  # which sends no files ahead
        options["candidates"] = candidates(connect(), found, made)
        options["sent_deadline"] = deadline_sent(options, wishes.on or ANY)
    options |= _at(options, place, wishes)
    return replace(wishes, on=place)


def chosen_each_time(
    targets: tuple[str, ...],
    words: list[str] | None,
    wishes: Wishes,
    options: dict[str, Any],
    several: Json,
) -> Wishes:
    """The wishes for what is submitted again and again; its place is chosen anew each time."""
    named = task_places(targets, wishes, several)
    if named:
        return tasks_placed(targets, named, wishes, options)
    if several:
        raise UsageError("the jobs of a run have one place", hint="name it with --on")
    found = _shown(placement(targets, words, wishes, options, several))
    place = found.place()
    made = _maker(connect(), targets, words, wishes, options, several)
    options["candidates"] = candidates(connect(), found, made)
    options["chosen_by"] = preferred(wishes.on, options.get("prefer"))
    options |= _at(options, place, wishes)
    return replace(wishes, on=place)


def _shown(found: Placement) -> Placement:
    """The same, after its table was printed to stderr."""
    for line in table(found).splitlines():
        echo_line(line)
    return found


def wanted_places(
    named: Mapping[str, TaskPlaces], on: str | None, options: dict[str, Any]
) -> dict[str, Wanted]:
    """Where each task of a pipeline may run, where the tasks name these places themselves."""
    if on is None:
        return wanted_by(named)
    each = Wanted(places_of(connect(), on), preferred(on, options.get("prefer")))
    return dict.fromkeys(named, each)


def tasks_placed(
    targets: tuple[str, ...],
    named: Mapping[str, TaskPlaces],
    wishes: Wishes,
    options: dict[str, Any],
) -> Wishes:
    """The same for a pipeline, each of whose tasks is placed on its own when its turn comes."""
    wanted = wanted_places(named, wishes.on, options)
    if wishes.on is None and not is_spread(wanted):
        if options.get("max_wait") is not None:
            raise UsageError("--max-wait needs several places", hint="write --on slurm/hpc,local")
        (place,) = {each for task in wanted.values() for each in task.places}
        return wishes if place == HERE else replace(wishes, on=place)
    if options.get("max_wait") is not None:
        options["max_wait_s"] = parse_duration(options["max_wait"])
    rest = connect()
    made = _maker(rest, targets, None, wishes, options, {})
    found = ask_tasks(rest, wanted, made)
    for line in task_tables(found).splitlines():
        echo_line(line)
    on, more = spread(rest, wanted, found, made, with_files=not options.get("dry_run"))
    options |= _at(options, on, wishes) | more
    options["sent_deadline"] = deadline_sent(options, wishes.on or ANY)
    return replace(wishes, on=on)


def task_placements(
    targets: tuple[str, ...],
    named: Mapping[str, TaskPlaces],
    wishes: Wishes,
    options: dict[str, Any],
) -> dict[str, Placement]:
    """What the places that are named offer for each task of a pipeline."""
    rest = connect()
    on = wishes.on or (None if any(each.names for each in named.values()) else ANY)
    made = _maker(rest, targets, None, wishes, options, {})
    return ask_tasks(rest, wanted_places(named, on, options), made)


def task_tables(found: Mapping[str, Placement]) -> str:
    """A table for each task, under its name."""
    return "\n".join(f"{task}\n{table(each)}" for task, each in found.items())


def placement(
    targets: tuple[str, ...],
    words: list[str] | None,
    wishes: Wishes,
    options: dict[str, Any],
    several: Json,
) -> Placement:
    """What the places that are named offer for the job."""
    rest = connect()
    made = _maker(rest, targets, words, wishes, options, several)
    on = wishes.on or ANY
    return ask(rest, places_of(rest, on), made, preferred(on, options.get("prefer")))


def _maker(
    rest: Rest,
    targets: tuple[str, ...],
    words: list[str] | None,
    wishes: Wishes,
    options: dict[str, Any],
    several: Json,
) -> Callable[[str], Submission]:
    """What makes the job for a place."""

    def made(place: str) -> Submission:
        there, more = replace(wishes, on=place), dict(several)
        _, objects = made_objects(targets, words, there, _at(options, place, wishes), more)
        return Submission(objects, {**submission_options(rest, objects, there, options), **more})

    return made


def _at(options: dict[str, Any], place: str, wishes: Wishes) -> dict[str, Any]:
    """The options for one of several places: those of Slurm are for places that are Slurm."""
    if not options["slurm"] or counts_at(place, wishes.on):
        return dict(options)
    return {**options, "slurm": ()}


def table(found: Placement) -> str:
    """The places, the best first, and an arrow before the one that is chosen."""
    rows = [
        (
            "->" if offer["place"] == found.chosen else "",
            str(offer["place"]),
            str(offer["fit"]),
            "-" if offer["price"] is None else f"{offer['price']:g}",
            str(offer["ahead"]),
            str(offer["reason"]),
        )
        for offer in found.offers
    ]
    return Columns(_HEADER).table(rows)
