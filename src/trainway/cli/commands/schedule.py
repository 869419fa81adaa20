"""`trainway schedule`: jobs that are submitted again and again."""

import os
import sys
from collections.abc import Callable
from typing import Any, Final

import click

from trainway.cli.colours import is_colourful
from trainway.cli.columns import Columns
from trainway.cli.completions import complete_schedules
from trainway.cli.connection import connect
from trainway.cli.job_options import output_option
from trainway.cli.job_text import painter
from trainway.cli.output import echo, echo_line, to_json, to_json_list, to_yaml
from trainway.cli.pool_option import pool_option, with_pool
from trainway.cli.priority_option import priority_option
from trainway.cli.queue_option import queue_option
from trainway.cli.refusal import RefusedError
from trainway.cli.run_submission import (
    made_objects,
    submission_options,
    task_places,
    with_places,
)
from trainway.cli.run_words import RunCommand, words_argument
from trainway.cli.schedule_text import HEADER, created_line, lines, row
from trainway.cli.several_jobs import several_group, several_of
from trainway.cli.time_zone import local_zone
from trainway.cli.wishes import (
    infra_option,
    prefer_option,
    recovery_option,
    wishes_group,
    wishes_of,
)
from trainway.errors import InvalidError, UsageError
from trainway.sdk.placement import is_choice
from trainway.sdk.recovery_strategy import EAGER_NEXT
from trainway.sdk.rest import Submission
from trainway.sdk.schedule_rest import ScheduleRest

Command = Callable[..., Any]
_ONE_FIELD: Final = frozenset("0123456789*/,-")
_CREATE: Final = """Run a job again and again.

\b
trainway schedule create "0 3 * * *" FILE.yaml            every day at three
trainway schedule create "*/30 8-18 * * mon-fri" check.py  on workdays, every half an hour
trainway schedule create @weekly FILE.yaml --on slurm/hpc

CRON has five fields: minute, hour, day of the month, month, day of the week. FILE may be a script
or a command too, as for trainway run. The job is checked now, and runs with the environment of
now. The schedule has the name of the job, which --name gives.
"""


def _name_argument(command: Command) -> Command:
    return click.argument("name", metavar="NAME", shell_complete=complete_schedules)(command)


@click.group("schedule")
def command() -> None:
    """Run jobs at set times, again and again.

    The server submits a job each time; trainway jobs list --label trainway.dev/schedule=NAME shows
    the jobs of a schedule. A server with a schedule that is not paused does not end by itself.
    """


@command.command("create", cls=RunCommand, help=_CREATE)
@click.argument("cron", metavar="CRON")
@words_argument("targets", "[FILE|SCRIPT|COMMAND] [ARGS]...")
@click.option("--timezone", metavar="ZONE", help="Such as Europe/Berlin. Default: that of here.")
@click.option(
    "--catch-up",
    type=click.Choice(["skip", "once", "all"]),
    default="once",
    show_default=True,
    help="What to do about times at which no server was running: nothing, one job for all of them,"
    " or one for each of the last 100.",
)
@click.option(
    "--overlap",
    type=click.Choice(["forbid", "allow", "replace"]),
    default="forbid",
    show_default=True,
    help="What to do while the job before has not ended: leave this one out, run both, or cancel"
    " the one before.",
)
@click.option("--paused", is_flag=True, help="Create it paused.")
@wishes_group
@priority_option()
@queue_option
@infra_option("Where to run: a place, a list such as slurm/hpc,local, or any.")
@pool_option
@prefer_option
@recovery_option
@click.option(
    "--oversubscribe", is_flag=True, help="Start the job even if it requests more than there is."
)
@several_group
@click.pass_context
def create(ctx: click.Context, /, cron: str, targets: tuple[str, ...], **options: Any) -> None:
    """Check the job, and keep it with its times."""
    _check_one_word(cron, targets)
    with_pool(options)
    from trainway.cli.commands.run import command as run  # noqa: PLC0415 - only to create one

    unused = run.make_context("run", [], resilient_parsing=True).params  # what only `run` asks
    several, given = several_of(options), {**unused, **options}
    wishes = with_places(targets, wishes_of(options), given)
    if is_choice(wishes.on) or (wishes.on is None and task_places(targets, wishes, several)):
        from trainway.cli.placing import chosen_each_time  # noqa: PLC0415 - only for several places

        wishes = chosen_each_time(targets, ctx.obj, wishes, given, several)
    elif options["recovery_strategy"] == EAGER_NEXT:
        raise UsageError(
            "--recovery-strategy eager-next needs several places", hint="write --on slurm/hpc,local"
        )
    source, objects = made_objects(targets, ctx.obj, wishes, given, several)
    rest = _connected()
    sent = submission_options(rest, objects, wishes, given)
    wanted = {
        "cron": cron,
        "timezone": options["timezone"] or local_zone(os.environ),
        "catch_up": options["catch_up"],
        "overlap": options["overlap"],
        "paused": options["paused"],
    }
    prefix = f"{source}: " if source else ""
    try:
        made, warnings = rest.create_schedule(Submission(objects, {**sent, **several}), wanted)
    except InvalidError as error:
        said = [f"{prefix}{line}" for line in error.lines]
        hint = [f"hint: {error.hint}"] if error.hint else []
        raise RefusedError([*said, *hint], error.exit_code) from None
    for warning in warnings:
        echo_line(f"{prefix}warning: {warning}")
    echo(f"{created_line(made)}\n")


def _check_one_word(cron: str, targets: tuple[str, ...]) -> None:
    """Raise where a shell has parted the fields, before a file called `*` is looked for."""
    if cron and set(cron) <= _ONE_FIELD and targets:
        raise UsageError(
            f"the times are {cron!r} alone, and the rest is taken for the job",
            hint='put the times in quotes: trainway schedule create "0 3 * * *" FILE',
        )


@command.command("list")
@output_option(("table", "json", "yaml", "name"))
def list_schedules(output: str) -> None:
    """List schedules, with when they are due next and what became of the last time."""
    found = _connected().schedules()
    if output == "json":
        echo(to_json_list(found))
    elif output == "yaml":
        echo(to_yaml(found))
    elif output == "name":
        echo("".join(f"{schedule['metadata']['name']}\n" for schedule in found))
    elif found:
        paint = painter(colourful=is_colourful(sys.stdout))
        echo(Columns(HEADER, paint).table([row(schedule) for schedule in found]))
    else:
        echo_line("there are no schedules")


@command.command("show")
@_name_argument
@output_option(("table", "json", "yaml"))
def show(name: str, output: str) -> None:
    """Show a schedule; with -o yaml also what it submits."""
    schedule = _connected().schedule(name)
    if output == "json":
        echo(to_json(schedule))
    elif output == "yaml":
        echo(to_yaml([schedule]))
    else:
        echo("\n".join([*lines(schedule), ""]))


@command.command("pause")
@_name_argument
def pause(name: str) -> None:
    """Submit no more jobs until the schedule is resumed; jobs that run go on."""
    echo(f"{_connected().pause_schedule(name)['metadata']['name']} paused\n")


@command.command("resume")
@_name_argument
def resume(name: str) -> None:
    """Submit jobs again. Times that passed while it was paused are not made up for."""
    echo(f"{created_line(_connected().resume_schedule(name))}\n")


@command.command("delete")
@_name_argument
def delete(name: str) -> None:
    """Delete a schedule. Its jobs stay, and those that run go on."""
    echo(f"{_connected().delete_schedule(name)['metadata']['name']} deleted\n")


def _connected() -> ScheduleRest:
    return ScheduleRest(connect().transport)
