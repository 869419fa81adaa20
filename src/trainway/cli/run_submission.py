"""What `run`, `tune` and `plan` submit: the objects of what was named, and how they are to run."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from trainway.cli.packages_option import given_packages
from trainway.cli.refusal import RefusedError
from trainway.cli.run_words import refuse_options
from trainway.cli.several_jobs import with_options_of
from trainway.errors import InvalidError, UsageError
from trainway.json_types import Json
from trainway.sdk.export import exporting
from trainway.sdk.hang_timeout import with_hang_timeout
from trainway.sdk.health_check import checked
from trainway.sdk.job_labels import labelled, parse_labels
from trainway.sdk.manifests import Wishes, packed, reading_logs
from trainway.sdk.pipelines import PIPELINE, is_pipeline
from trainway.sdk.recovery_strategy import recovery_option
from trainway.sdk.rest import Rest
from trainway.sdk.slurm_options import parsed, with_options
from trainway.sdk.submitter import job_options
from trainway.sdk.targets import (
    MANIFESTS,
    SCRIPT,
    command_objects,
    manifest_objects,
    program_objects,
    read_manifest,
    script_objects,
)

if TYPE_CHECKING:
    from trainway.sdk.task_places import TaskPlaces

_STDIN: Final = "-"
_STDIN_TEXT: Final = f"{__name__}.stdin"
_SEARCH: Final = "OptimizationJob"


def made_objects(
    targets: tuple[str, ...],
    rest_words: list[str] | None,
    wishes: Wishes,
    options: dict[str, Any],
    several: Json,
) -> tuple[str, list[Json]]:
    """Where the job comes from, and its objects for the place that the wishes name.

    A file may be a search or a pipeline, which is noted in `several`. A command that makes its job
    itself has `made` among its options.
    """
    if options.get("made"):
        source, objects = "", options["made"](wishes)
    else:
        source, objects = _target(targets, rest_words, wishes, several)
    objects = with_options(objects, parsed(options["slurm"]), wishes.on)
    if options.get("accelerator"):
        from trainway.sdk.accelerator import of_type  # noqa: PLC0415 - seldom needed

        objects = of_type(objects, options["accelerator"])
    if options["pack"]:
        objects = packed(objects)
    if options.get("health_check") or options.get("torch_check"):
        objects = checked(objects, "torch" if options.get("torch_check") else "true")
    objects = labelled(objects, parse_labels(options["labels"]))
    if options["note"] or options["links"]:
        objects = _with_remarks(objects, options)
    if options.get("checkpoint"):
        from trainway.sdk.checkpoints import with_checkpoint  # noqa: PLC0415 - seldom needed

        objects = with_checkpoint(objects, options["checkpoint"])
    packages = given_packages(options)
    if packages:
        from trainway.sdk.packages import asking_for  # noqa: PLC0415 - seldom needed

        objects = asking_for(objects, packages)
    objects = reading_logs(objects, options["metrics_from_logs"])
    objects = exporting(objects, options.get("export"))
    return source, with_hang_timeout(objects, options["hang_timeout"])


def with_places(targets: tuple[str, ...], wishes: Wishes, options: dict[str, Any]) -> Wishes:
    """The wishes with the places that a task names itself, where nobody names one."""
    target = targets[0] if targets else ""
    if wishes.on is not None or (target != _STDIN and Path(target).suffix not in MANIFESTS):
        return wishes
    text = _standard_input() if target == _STDIN else read_manifest(Path(target))
    if "resources" not in text or "apiVersion" in text:
        return wishes
    from trainway.sdk.pipeline_placement import own_preference  # noqa: PLC0415 - only for tasks
    from trainway.sdk.tasks import places_in  # noqa: PLC0415 - as above

    found = places_in(text, wishes)
    if found.on is not None and options.get("prefer") is None:
        options["prefer"] = own_preference(found)
    return replace(wishes, on=found.on)


def task_places(targets: tuple[str, ...], wishes: Wishes, several: Json) -> "dict[str, TaskPlaces]":
    """The places that each task of a pipeline names; empty where it is something else."""
    target = targets[0] if targets else ""
    if several or (target != _STDIN and Path(target).suffix not in MANIFESTS):
        return {}
    text = _standard_input() if target == _STDIN else read_manifest(Path(target))
    if "---" not in text or "apiVersion" in text:
        return {}
    from trainway.sdk.tasks import pipeline_places  # noqa: PLC0415 - only for tasks

    return pipeline_places(text, wishes)


def submission_options(
    rest: Rest, objects: list[Json], wishes: Wishes, options: dict[str, Any]
) -> Json:
    """How these objects are to run, as a submission says it."""
    sent: Json = {
        **job_options(rest.address, prefer_our_python=False, backend=wishes.on),
        "priority": options["priority"] or _priority(objects),
        "oversubscribe": options["oversubscribe"],
        **wishes.isolation(),
    }
    if wishes.on is not None:
        sent["backend"] = wishes.on
    if options.get("candidates"):
        sent |= {"candidates": options["candidates"], "max_wait": options.get("max_wait_s")}
    if options.get("chosen_by"):
        sent["prefer"] = options["chosen_by"]
    sent |= options.get("sent_deadline") or {}
    if options.get("placement"):
        sent["placement"] = options["placement"]
    sent |= recovery_option(options.get("recovery_strategy"), objects)
    if options["notify"]:
        sent["notify"] = list(options["notify"])
    if options["queue"]:
        sent["queue"] = options["queue"]
    limits = ("max_cost", "max_cost_each")
    sent |= {name: options[name] for name in limits if options.get(name) is not None}
    if options.get("use_spot"):
        sent["use_spot"] = True
    return sent


def _with_remarks(objects: list[Json], options: dict[str, Any]) -> list[Json]:
    from trainway.sdk.job_remarks import parse_links, remarked  # noqa: PLC0415 - seldom needed

    return remarked(objects, options["note"], parse_links(options["links"]))


def _target(
    targets: tuple[str, ...], rest: list[str] | None, wishes: Wishes, several: Json
) -> tuple[str, list[Json]]:
    """What to run: where it comes from, and the objects it becomes; a file may be a search."""
    if not targets:
        if not rest:
            raise click.UsageError("there is nothing to run", click.get_current_context())
        return "", command_objects(with_options_of(rest, several), wishes)
    target, *others = targets
    refuse_options([target], click.get_current_context())
    suffix = Path(target).suffix
    if target == _STDIN or suffix in MANIFESTS:
        refuse_options(others, click.get_current_context())
        if others or rest:
            raise UsageError(f"{target} does not take arguments", hint="pass variables with --env")
        text = _standard_input() if target == _STDIN else read_manifest(Path(target))
        name = "<stdin>" if target == _STDIN else target
        return name, _manifest(text, name, wishes, several)
    words = with_options_of([*others, *(rest or [])], several)
    if suffix == SCRIPT:
        return "", script_objects(target, words, wishes)
    return "", program_objects(target, words, wishes)


def _manifest(text: str, name: str, wishes: Wishes, several: Json) -> list[Json]:
    try:
        objects = _searched(text, name, wishes, several) or manifest_objects(text, name, wishes)
    except InvalidError as error:
        raise RefusedError([f"{name}: {line}" for line in error.lines], error.exit_code) from None
    if not several and is_pipeline(objects):
        several |= PIPELINE
    return objects


def _searched(text: str, name: str, wishes: Wishes, several: Json) -> list[Json]:
    """The objects of a trial, if the file is a search, which is noted; empty: it is none."""
    if _SEARCH not in text:
        return []
    from trainway.sdk.searches import in_manifest  # noqa: PLC0415 - only for searches

    found = in_manifest(text, name, wishes)
    if found is None:
        return []
    if several:
        raise UsageError(f"{name}: an {_SEARCH} has its own trials; leave out --grid and the like")
    several |= {"search": found[1], "placeholders": False}
    return found[0]


def _priority(objects: list[Json]) -> int:
    """What a task asks for, where the command says nothing."""
    if not any(obj.get("kind") == "Task" for obj in objects):
        return 0
    from trainway.sdk.tasks import priority_of  # noqa: PLC0415 - only for tasks

    return priority_of(objects)


def _standard_input() -> str:
    """All of it; it can be read only once, and a job may be made for several places."""
    meta = click.get_current_context().meta
    if _STDIN_TEXT not in meta:
        meta[_STDIN_TEXT] = sys.stdin.read()
    return str(meta[_STDIN_TEXT])
