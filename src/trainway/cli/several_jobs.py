"""The options that make several jobs of one, which `run` and `explain` share."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from trainway.cli.completions import complete_files
from trainway.errors import UsageError
from trainway.json_types import Json

Command = Callable[..., Any]


def several_group(command: Command) -> Command:
    """`--num-jobs`, `--grid`, `--sweep` and `--parallel`."""
    for option in reversed((
        click.option(
            "--num-jobs",
            type=click.IntRange(min=1),
            help="Submit this many jobs, NAME-0, NAME-1 and so on; each has its own"
            " TRAINWAY_JOB_RANK.",
        ),
        click.option(
            "--grid",
            multiple=True,
            metavar="NAME=VALUE,...",
            help="Run one job for each combination of these values; several are possible.",
        ),
        click.option(
            "--sweep",
            metavar="FILE",
            shell_complete=complete_files,
            help="Run one job for each trial of a sweep file.",
        ),
        click.option(
            "--parallel",
            type=click.IntRange(min=1),
            help="Run at most this many of several jobs at a time.",
        ),
    )):  # fmt: skip
        command = option(command)
    return command


def several_of(options: dict[str, Any]) -> Json:
    """What makes several jobs of one; empty: nothing does."""
    several: Json = {"num_jobs": options["num_jobs"], "parallel": options["parallel"]}
    if options["grid"] or options["sweep"]:
        if options["num_jobs"] is not None:
            raise UsageError("--num-jobs cannot be combined with --grid or --sweep")
        from trainway.sdk.sweeps import grid_of, trials  # noqa: PLC0415 - only for sweeps

        several["parameters"] = trials(grid_of(options["grid"]), options["sweep"])
    elif options["num_jobs"] is None and options["parallel"] is not None:
        raise UsageError("--parallel is for several jobs", hint="add --grid, --sweep or --num-jobs")
    return {name: value for name, value in several.items() if value is not None}


def with_options_of(words: Sequence[str], several: Json) -> list[str]:
    """The words of a script or command, with an option for each parameter they do not mention."""
    names = _names(several)
    if not names:
        return list(words)
    from trainway.sweep.placeholders import words as with_options  # noqa: PLC0415 - as above

    return with_options(names, words)


def _names(several: Json) -> list[str]:
    """The parameters of a sweep or search."""
    if "search" in several:
        return [str(item["name"]) for item in several["search"]["spec"]["parameters"]]
    return list(several["parameters"][0]) if "parameters" in several else []
