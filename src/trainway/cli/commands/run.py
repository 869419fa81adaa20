"""`trainway run`: the front door. Submits a job, shows it, and ends as it ends."""

from typing import Any, Final

import click

from trainway.cli.checkpoint_option import checkpoint_option
from trainway.cli.connection import connect
from trainway.cli.cost_option import cost_options
from trainway.cli.deadline_option import (
    check_deadline,
    deadline_option,
    deadline_sent,
    work_option,
)
from trainway.cli.hang_option import hang_option
from trainway.cli.job_options import given_label_option
from trainway.cli.leaving import Leaving
from trainway.cli.metrics_option import metrics_option
from trainway.cli.notify_option import notify_option
from trainway.cli.output import echo, echo_line, to_yaml
from trainway.cli.packages_option import packages_group
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
from trainway.cli.several_jobs import several_group, several_of
from trainway.cli.slurm_option import slurm_option
from trainway.cli.spot_option import check_spot, spot_option
from trainway.cli.wishes import (
    infra_option,
    max_wait_option,
    prefer_option,
    recovery_option,
    wishes_group,
    wishes_of,
)
from trainway.errors import InvalidError, JobFailedError, UsageError
from trainway.json_types import Json
from trainway.sdk.placement import is_choice, is_rented
from trainway.sdk.recovery_strategy import EAGER_NEXT
from trainway.sdk.rest import Rest, Submission

_STDIN: Final = "-"
_SEARCH: Final = "OptimizationJob"
_INTERRUPTED: Final = 130
_LAST_LINES: Final = 5
"""How many of the lines that a failed node wrote to stderr are shown once more at the end."""


_HELP: Final = """Run a job and show it until it ends.

\b
trainway run FILE.yaml             a TrainJob, MPIJob, JobSet, task or OptimizationJob
trainway run train.py --lr 0.1     a script, with torchrun where there is torch
trainway run COMMAND ARGS...       anything else: a program or a shell script

The options below are Trainway's wherever they stand. All other words are passed to the script or
command, and so is everything after --. Options take precedence over a TrainJob in a file.
Without a terminal the logs go to stdout and changes of the phase to stderr. Ctrl-C asks whether to
leave the job running or to cancel it.
For several jobs (--grid, --sweep, --num-jobs) it shows a table, and how each of them ends.

Exit status: 0 the job succeeded, 4 it failed, 1 an error, 2 wrong usage, 3 something was not found.
Of several jobs: 0 if all of them succeeded, otherwise 4. Of an OptimizationJob: 0 if it found a
best trial, otherwise 4.
"""


@click.command("run", cls=RunCommand, help=_HELP)
@words_argument("targets", "[FILE|SCRIPT|COMMAND] [ARGS]...")
@wishes_group
@click.option(
    "--pack", is_flag=True, help="Let several nodes of the job share one SSH host or Slurm node."
)
@given_label_option
@click.option("--note", metavar="TEXT", help="A note on the job, which jobs show prints.")
@click.option(
    "--link",
    "links",
    metavar="NAME=URL",
    multiple=True,
    envvar="TRAINWAY_LINKS",
    help="A link that is shown with the job, such as wandb=https://wandb.ai/team/run/1. May be"
    " given several times.",
)
@priority_option()
@queue_option
@infra_option("Where to run: a place, a list such as slurm/hpc,local, or any.")
@pool_option
@spot_option
@prefer_option
@max_wait_option
@recovery_option
@deadline_option
@work_option
@slurm_option
@click.option(
    "--oversubscribe", is_flag=True, help="Start the job even if it requests more than there is."
)
@click.option(
    "--export",
    metavar="URI",
    help="Where the output goes when the job has succeeded, such as s3://bucket/run.",
)
@cost_options
@notify_option
@metrics_option
@hang_option
@click.option(
    "--health-check",
    is_flag=True,
    help="Check disk, GPUs and network of all nodes before the job starts; SSH hosts that fail are"
    " set aside, and the job starts on others.",
)
@click.option(
    "--torch-check",
    is_flag=True,
    help="The same, and an all-reduce over all nodes by the job's own torch.",
)
@packages_group
@checkpoint_option
@several_group
@click.option(
    "-d", "--detach", is_flag=True, help="Only submit the job, and print its name and id."
)
@click.option(
    "--dry-run", "--dryrun", is_flag=True, help="Only print the objects that would be submitted."
)
@click.pass_context
def command(ctx: click.Context, /, targets: tuple[str, ...], **options: Any) -> int:
    """Submit, then show, then end as the job ends."""
    with_pool(options)
    return carry_out(targets, ctx.obj, options, several_of(options))


def carry_out(
    targets: tuple[str, ...], rest_words: list[str] | None, options: dict[str, Any], several: Json
) -> int:
    """Submit what was named with these options, and show it; `tune` does so too."""
    wishes = with_places(targets, wishes_of(options), options)
    check_deadline(options, wishes.on)
    check_spot(options, wishes.on)
    named = task_places(targets, wishes, several)
    if named and (wishes.on is None or is_choice(wishes.on)):
        from trainway.cli.placing import tasks_placed  # noqa: PLC0415 - only for pipelines

        wishes = tasks_placed(targets, named, wishes, options)
    elif is_choice(wishes.on):
        from trainway.cli.placing import placed  # noqa: PLC0415 - only for several places

        wishes = placed(targets, rest_words, wishes, options, several)
    elif options.get("max_wait") is not None:
        raise UsageError("--max-wait needs several places", hint="write --on slurm/hpc,local")
    elif options.get("recovery_strategy") == EAGER_NEXT:
        raise UsageError(
            "--recovery-strategy eager-next needs several places", hint="write --on slurm/hpc,local"
        )
    elif is_rented(wishes.on):
        options["sent_deadline"] = deadline_sent(options, "")
    source, objects = made_objects(targets, rest_words, wishes, options, several)
    if options["dry_run"]:
        echo(to_yaml(_without_secrets(objects)))
        _say_trials(several)
        return 0
    rest = connect()
    jobs: list[Json] = []
    with Leaving(lambda: _say_goes_on(jobs)):
        try:
            sent = submission_options(rest, objects, wishes, options)
            jobs += _submit(rest, source, Submission(objects, sent), several)
            if wishes.travels:
                _say_what_travels(objects, to_hosts=not wishes.is_in_pods)
            if options["detach"]:
                for job in jobs:
                    echo(f"{job['metadata']['name']} {job['metadata']['id']}\n")
                return 0
            return wait(rest, jobs) if several else follow(rest, jobs[0])
        except KeyboardInterrupt:  # before or after anybody could be asked
            _say_goes_on(jobs)
            return _INTERRUPTED


def _say_trials(several: Json) -> None:
    """What the jobs of a run would be; of a search those that are known before."""
    trials = several.get("parameters", ())
    if "search" in several:
        from trainway.sdk.searches import first_trials  # noqa: PLC0415 - only for searches

        trials = first_trials(several["search"])
    for trial in trials:
        echo_line("trial: " + " ".join(f"{name}={value}" for name, value in trial.items()))


def follow(rest: Rest, job: Json) -> int:
    """Show a job until it ends; the exit status says how."""
    from trainway.cli.following import Following, Outcome  # noqa: PLC0415 - not for -d
    from trainway.cli.views import view_for_output  # noqa: PLC0415 - as above

    following = Following(rest, job, view_for_output())
    outcome = following.run()
    if outcome is Outcome.DETACHED:
        _say_goes_on([job])
        return 0
    _say_end(rest, following.job)
    if outcome is Outcome.CANCELLED:
        return _INTERRUPTED
    if following.job["status"]["phase"] != "Succeeded":
        return JobFailedError.exit_code
    from trainway.cli.export_waiting import wait_for_export  # noqa: PLC0415 - as above

    return wait_for_export(rest, following.job)


def wait(rest: Rest, jobs: list[Json]) -> int:
    """Tell how each of several jobs ends; the exit status says whether all succeeded."""
    from trainway.cli.run_following import NoView, ended, view_for_output  # noqa: PLC0415 - seldom
    from trainway.sdk.run_rest import RunRest  # noqa: PLC0415 - as above

    phases, view = set(), view_for_output()
    runs = RunRest(rest.transport)
    try:
        run = runs.run(jobs[0]["spec"]["run"])
        if run.get("pipeline") and isinstance(view, NoView):
            _show_logs(rest, run)
        for job in ended(runs, run, view):
            _say_end(rest, job)
            phases.add(job["status"]["phase"])
    finally:
        view.close()
    if "search" in run:
        return _say_found(runs.run(run["metadata"]["id"]))
    return 0 if phases == {"Succeeded"} else JobFailedError.exit_code


def _show_logs(rest: Rest, run: Json) -> None:
    """The logs of the tasks of a pipeline, as they come; their nodes are called after them."""
    from trainway.cli.run_logs import followed  # noqa: PLC0415 - only for pipelines

    for text in followed(rest, run["jobs"], tail=None, colourful=False, named=False):
        echo(text)


def _say_found(run: Json) -> int:
    """How a search has ended; the exit status says whether it found something."""
    from trainway.cli.run_text import best_line  # noqa: PLC0415 - only for searches

    end = run["status"]["search"] or {}
    echo_line(f"{run['metadata']['name']}: {run['status']['phase']}: {end.get('message', '')}")
    if run["search"]["best"]:
        echo_line(best_line(run))
    return 0 if run["status"]["phase"] == "Succeeded" else JobFailedError.exit_code


def _without_secrets(objects: list[Json]) -> list[Json]:
    from trainway.api.task.task_object import without_values  # noqa: PLC0415 - only for --dry-run

    return without_values(objects)


def _say_goes_on(jobs: list[Json]) -> None:
    if not jobs:
        echo_line("the job may have been submitted; trainway jobs list shows it")
        return
    name, id_ = jobs[0]["metadata"]["name"], jobs[0]["metadata"]["id"]
    if len(jobs) > 1:
        last, run = jobs[-1]["metadata"]["name"], jobs[0]["spec"]["run"]
        echo_line(f"{name} to {last} keep running. To see them: trainway runs show {run}")
        echo_line(f"To end them: trainway runs cancel {run}")
    else:
        echo_line(f"{name} keeps running. To see it: trainway jobs logs -f {id_}")
        echo_line(f"To end it: trainway jobs cancel {id_}")


def _say_end(rest: Rest, job: Json) -> None:
    """How a job ended; of one that failed also what the culprit wrote last."""
    from trainway.cli.job_text import ending  # noqa: PLC0415 - not for -d
    from trainway.sdk.job import last_lines  # noqa: PLC0415 - as above

    echo_line(ending(job))
    for name, url in (job["metadata"].get("links") or {}).items():
        echo_line(f"  {name}: {url}")
    failure = job["status"].get("failure")
    if failure:
        written = last_lines(rest, job["metadata"]["id"], failure)
        errors = [line for line in written if line.stream == "stderr"]
        # Kubernetes does not tell the two streams apart.
        for line in (errors or written)[-_LAST_LINES:]:
            echo_line(f"  {failure['node']} | {line.text}")


def _say_what_travels(objects: list[Json], *, to_hosts: bool) -> None:
    """Tell which files the job will have; on this machine jobs have them all."""
    from trainway.sdk.travel import staying, travelling  # noqa: PLC0415 - not for local jobs

    for note in (travelling(objects, to_hosts=to_hosts), staying(objects, to_hosts=to_hosts)):
        if note:
            echo_line(f"note: {note}")


def _submit(rest: Rest, source: str, submission: Submission, several: Json) -> list[Json]:
    prefix = f"{source}: " if source else ""
    try:
        if several:
            jobs, warnings = rest.submit_run(submission, several)
        else:
            job, warnings = rest.submit(submission)
            jobs = [job]
    except InvalidError as error:
        lines = [f"{prefix}{line}" for line in error.lines]
        hint = [f"hint: {error.hint}"] if error.hint else []
        raise RefusedError([*lines, *hint], error.exit_code) from None
    for warning in warnings:
        echo_line(f"{prefix}warning: {warning}")
    return jobs
