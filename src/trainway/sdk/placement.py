"""A job that may run in several places: `--on any`, or `--on k8s/a,slurm/b,local`.

What is submitted differs from place to place, since files and variables travel differently. So the
job is made for each place, and the server is asked with all of them what each place offers.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC
from typing import Any, Final

from trainway.errors import InvalidError, TrainwayError, UsageError
from trainway.families.builtin import HELD
from trainway.families.table import family_of, name_of, spelled
from trainway.json_types import Json
from trainway.sdk.recovery_strategy import EAGER_NEXT, FAILOVER
from trainway.sdk.rest import Rest, Submission
from trainway.sdk.run_options import RunOptions
from trainway.sdk.slurm_options import counts_at
from trainway.sdk.submitter import kubeconfig_files

ANY: Final = "any"
COST: Final = "cost"
ORDER: Final = "order"
_NEVER: Final = "never"
_PATIENCE_S: Final = 60.0
"""Longer than the server waits for a place that does not answer."""


@dataclass(frozen=True)
class Placement:
    """What places say, the best first, and which one is chosen."""

    offers: list[Json]
    chosen: str | None

    @property
    def taking(self) -> list[str]:
        """The places that would take the job, the best first."""
        return [str(offer["place"]) for offer in self.offers if offer["fit"] != _NEVER]

    def place(self) -> str:
        """The one that is chosen; an error if none takes the job."""
        if self.chosen is not None:
            return self.chosen
        lines = [f"{offer['place']}: {offer['reason']}" for offer in self.offers]
        raise InvalidError(
            ["no place takes the job", *lines],
            hint="change the job, or name other places with --on",
        )


@dataclass(frozen=True, kw_only=True)
class PlacedOptions(RunOptions):
    """Options with the place that was chosen, of a job that may go to others."""

    candidates: Sequence[Json]
    """The job for each of them, as the server keeps it."""
    sure: str = ""
    """The place that counts as sure, where there is a deadline: the last one that was named."""
    placement: Json = field(default_factory=dict)
    """Where each task may run, of a pipeline whose tasks are placed on their own."""

    chosen_by: str = ""
    """What counts between them, where one is chosen each time that it is submitted."""

    def waiting(self) -> Json:
        """The options of a submission that say so."""
        told: Json = {"candidates": list(self.candidates), "max_wait": self.max_wait}
        if self.chosen_by:
            told["prefer"] = self.chosen_by
        if self.placement:
            told["placement"] = self.placement
        if self.deadline is None:
            return told
        at = self.deadline.astimezone(UTC).isoformat()
        return {**told, "deadline": at, "work": self.work, "sure": self.sure}


def is_rented(on: str | None) -> bool:
    """Whether it names one place where machines are rented."""
    return on is not None and "," not in on and family_of(on).rents


def is_choice(on: str | None) -> bool:
    """Whether it names more than one place."""
    return on is not None and (on == ANY or "," in on)


def preferred(on: str | None, prefer: str | None) -> str:
    """What counts between places: the order of those that somebody listed, and else the cost."""
    return prefer or (COST if on is None or on == ANY else ORDER)


def places_of(rest: Rest, on: str) -> list[str]:
    """The places that are meant: those that are listed, or all, without launched clusters."""
    if on == ANY:
        body = {"kubeconfig": kubeconfig_files(os.environ) if rest.address.is_here else []}
        answer = rest.transport.request("POST", "/places", body=body, timeout=_PATIENCE_S)
        return [str(place) for place in answer["items"] if name_of(place) != HELD]
    named = [place.strip() for place in on.split(",")]
    if not all(named):
        raise UsageError(f"{on!r} has an empty place", hint="write --on k8s/a,slurm/b,local")
    if ANY in named:
        raise UsageError("any stands for all places", hint="write --on any, or list the places")
    return list(dict.fromkeys(map(spelled, named)))


def ask(
    rest: Rest,
    places: Sequence[str],
    made: Callable[[str], Submission],
    prefer: str,
    task: str = "",
) -> Placement:
    """What the places offer for a job; `made` gives it as it would be submitted to each.

    Of a pipeline, they are asked for one task.
    """
    candidates, refused = [], []
    for place in places:
        try:
            submission = made(place)
        except InvalidError as error:
            refused.append(_refusal(place, "; ".join(error.lines)))
        except TrainwayError as error:
            refused.append(_refusal(place, error.message))
        else:
            candidates.append(rest.unsent(submission))
    if not candidates:
        return Placement(refused, None)
    body = {"candidates": candidates, "prefer": prefer, **({"task": task} if task else {})}
    answer = rest.transport.request("POST", "/placements", body=body, timeout=_PATIENCE_S)
    return Placement([*answer["offers"], *refused], answer["chosen"])


def check_deadline(options: RunOptions) -> None:
    """Raise what is wrong with a deadline, as far as no server has to be asked for that."""
    on = options.on
    if (options.deadline is None) != (options.work is None):
        raise UsageError("deadline and work belong together", hint="give both, or neither")
    if options.deadline is None or is_rented(on):
        return
    if on is None or on == ANY or not is_choice(on):
        raise UsageError(
            "a deadline needs several places, of which the last one is sure",
            hint='give on="slurm/cheap,local", or on="aws" and use_spot=True',
        )


def placed(rest: Rest, options: RunOptions, made: Callable[[RunOptions], Submission]) -> RunOptions:
    """The options with the place that is chosen, where `on` leaves a choice."""
    on = options.on
    check_deadline(options)
    if on is None or not is_choice(on):
        if options.max_wait is not None:
            raise UsageError("max_wait needs several places", hint='give on="slurm/hpc,local"')
        if options.recovery_strategy == EAGER_NEXT:
            raise UsageError(
                f"the strategy {EAGER_NEXT} needs several places", hint='give on="slurm/hpc,local"'
            )
        is_kept = options.deadline is not None  # on a cloud, where the server knows both places
        return options if on is None or not is_kept else with_others(options, on, candidates=())
    prefer = checked(preferred(on, options.prefer))

    def there(place: str) -> Submission:
        return made(at(options, place))

    found = ask(rest, places_of(rest, on), there, prefer)
    stays = options.max_wait is None and options.deadline is None
    if stays and not is_recovered(there(found.place())):
        return at(options, found.place())
    others = candidates(rest, found, there)
    sure = on.rpartition(",")[2].strip()
    return with_others(at(options, found.place()), found.place(), candidates=others, sure=sure)


def at(options: RunOptions, place: str) -> RunOptions:
    """The options of a job that may run in several places, for one of them."""
    slurm = options.slurm if counts_at(place, options.on) else None
    return replace(options, on=place, slurm=slurm)


def chosen_each_time(
    rest: Rest, options: RunOptions, made: Callable[[RunOptions], Submission]
) -> RunOptions:
    """The options of what is submitted again and again; its place is chosen anew each time."""
    on = options.on
    if on is None or not is_choice(on):
        return placed(rest, options, made)
    prefer = checked(preferred(on, options.prefer))

    def there(place: str) -> Submission:
        return made(at(options, place))

    found = ask(rest, places_of(rest, on), there, prefer)
    place, others = found.place(), candidates(rest, found, there)
    return with_others(at(options, place), place, candidates=others, chosen_by=prefer)


def is_recovered(submission: Submission) -> bool:
    """Whether a job is to go on elsewhere when its place is lost."""
    return submission.options.get("recovery_strategy") in (FAILOVER, EAGER_NEXT)


def checked(prefer: str) -> str:
    """A preference; a UsageError where it is none."""
    if prefer not in (COST, ORDER):
        raise UsageError(f"{prefer!r} is not a preference", hint="prefer is cost or order")
    return prefer


def with_others(options: RunOptions, place: str, **others: Any) -> PlacedOptions:
    """The options with a place, and what tells of the others."""
    given = {each.name: getattr(options, each.name) for each in fields(RunOptions)}
    return PlacedOptions(**{**given, "on": place}, **others)


def candidates(rest: Rest, found: Placement, made: Callable[[str], Submission]) -> list[Json]:
    """The job for the other places that would take it, the best first, as the server keeps it."""
    return [kept(rest, place, made(place)) for place in found.taking if place != found.chosen]


def kept(rest: Rest, place: str, submission: Submission) -> Json:
    """The job for a place, as the server keeps it; its files are sent ahead."""
    body = rest.submission_body(submission)
    options = body["options"]
    more = {name: options[name] for name in ("kubeconfig", "environ") if name in options}
    return {"backend": place, "objects": body["objects"], **more}


def _refusal(place: str, reason: str) -> Json:
    """A place for which the job cannot even be written."""
    return {"place": place, "fit": _NEVER, "reason": reason, "price": None, "ahead": 0}
