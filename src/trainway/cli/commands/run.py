"""`trainway run`: the front door. Submits a job, shows it, and ends as it ends."""

import sys
from pathlib import Path
from typing import Any, Final

import click

from trainway.cli.connection import connect
from trainway.cli.job_options import given_label_option
from trainway.cli.leaving import Leaving
from trainway.cli.notify_option import notify_option
from trainway.cli.output import echo, echo_line, to_yaml
from trainway.cli.refusal import RefusedError
from trainway.cli.run_words import RunCommand, refuse_options, words_argument
from trainway.cli.slurm_option import slurm_option
from trainway.cli.wishes import infra_option, wishes_group, wishes_of
from trainway.errors import InvalidError, JobFailedError, UsageError
from trainway.json_types import Json
from trainway.sdk.job_labels import labelled, parse_labels
from trainway.sdk.manifests import Wishes, packed
from trainway.sdk.rest import Rest, Submission
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

_STDIN: Final = "-"
_INTERRUPTED: Final = 130
_LAST_LINES: Final = 5
"""That a node which failed wrote to stderr, and that are shown once more at the end."""


_HELP: Final = """Run a job and show it until it ends.

\b
trainway run FILE.yaml             a TrainJob, MPIJob, JobSet or task
trainway run train.py --lr 0.1     a script, with torchrun where there is torch
trainway run COMMAND ARGS...       anything else: a program or a shell script

The options below are Trainway's wherever they stand. All other words are passed to the script or
command, and so is everything after --. Options take precedence over a TrainJob in a file.
Without a terminal the logs go to stdout and changes of the phase to stderr. Ctrl-C asks whether to
leave the job running or to cancel it.
For several jobs (--num-jobs) it prints only how each of them ends.

Exit status: 0 the job succeeded, 4 it failed, 1 an error, 2 wrong usage, 3 something was not found.
"""


@click.command("run", cls=RunCommand, help=_HELP)
@words_argument("targets", "[FILE|SCRIPT|COMMAND] [ARGS]...")
@wishes_group
@click.option(
    "--pack", is_flag=True, help="Let several nodes of the job share one SSH host or Slurm node."
)
@given_label_option
@click.option("--priority", type=int, default=0, help="Jobs with a higher priority start first.")
@infra_option("Where to run; trainway doctor lists the places.")
@slurm_option
@click.option(
    "--oversubscribe", is_flag=True, help="Start the job even if it requests more than there is."
)
@click.option(
    "--num-jobs",
    type=click.IntRange(min=1),
    help="Submit this many jobs, NAME-0, NAME-1 and so on; each has its own TRAINWAY_JOB_RANK.",
)
@notify_option
@click.option(
    "-d", "--detach", is_flag=True, help="Only submit the job, and print its name and id."
)
@click.option(
    "--dry-run", "--dryrun", is_flag=True, help="Only print the objects that would be submitted."
)
@click.pass_context
def command(ctx: click.Context, /, targets: tuple[str, ...], **options: Any) -> int:
    """Submit, then show, then end as the job ends."""
    wishes = wishes_of(options)
    source, objects = _target(targets, ctx.obj, wishes)
    objects = with_options(objects, parsed(options["slurm"]), wishes.on)
    if options["pack"]:
        objects = packed(objects)
    objects = labelled(objects, parse_labels(options["labels"]))
    if options["dry_run"]:
        echo(to_yaml(_without_secrets(objects)))
        return 0
    if wishes.travels:
        _say_what_travels(objects, to_hosts=not wishes.is_in_pods)
    rest = connect()
    jobs: list[Json] = []
    with Leaving(lambda: _say_goes_on(jobs)):
        try:
            jobs += _submit(rest, source, objects, {**options, **wishes.isolation()})
            if options["detach"]:
                for job in jobs:
                    echo(f"{job['metadata']['name']} {job['metadata']['id']}\n")
                return 0
            return follow(rest, jobs[0]) if options["num_jobs"] is None else wait(rest, jobs)
        except KeyboardInterrupt:  # before or after anybody could be asked
            _say_goes_on(jobs)
            return _INTERRUPTED


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
    return 0 if following.job["status"]["phase"] == "Succeeded" else JobFailedError.exit_code


def wait(rest: Rest, jobs: list[Json]) -> int:
    """Tell how each of several jobs ends; the exit status says whether all succeeded."""
    from trainway.cli.array_following import ended  # noqa: PLC0415 - not for one job

    phases = set()
    for job in ended(rest, jobs):
        _say_end(rest, job)
        phases.add(job["status"]["phase"])
    return 0 if phases == {"Succeeded"} else JobFailedError.exit_code


def _without_secrets(objects: list[Json]) -> list[Json]:
    from trainway.api.task.task_object import without_values  # noqa: PLC0415 - only for --dry-run

    return without_values(objects)


def _say_goes_on(jobs: list[Json]) -> None:
    if not jobs:
        echo_line("the job may have been submitted; trainway jobs list shows it")
        return
    name, id_ = jobs[0]["metadata"]["name"], jobs[0]["metadata"]["id"]
    if len(jobs) > 1:
        last, most = jobs[-1]["metadata"]["name"], len(jobs) - 1
        echo_line(f"{name} to {last} keep running. To see them: trainway jobs list")
        start = name.removesuffix("0")
        echo_line(f"To end them: trainway jobs cancel {start}{{0..{most}}}")
    else:
        echo_line(f"{name} keeps running. To see it: trainway jobs logs -f {id_}")
        echo_line(f"To end it: trainway jobs cancel {id_}")


def _say_end(rest: Rest, job: Json) -> None:
    """How a job ended; of one that failed also what the culprit wrote last."""
    from trainway.cli.job_text import ending  # noqa: PLC0415 - not for -d
    from trainway.sdk.job import last_lines  # noqa: PLC0415 - as above

    echo_line(ending(job))
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


def _target(
    targets: tuple[str, ...], rest: list[str] | None, wishes: Wishes
) -> tuple[str, list[Json]]:
    """What to run: where it comes from, and the objects it becomes."""
    if not targets:
        if not rest:
            raise click.UsageError("there is nothing to run", click.get_current_context())
        return "", command_objects(rest, wishes)
    target, *others = targets
    refuse_options([target], click.get_current_context())
    suffix = Path(target).suffix
    if target == _STDIN or suffix in MANIFESTS:
        refuse_options(others, click.get_current_context())
        if others or rest:
            raise UsageError(f"{target} does not take arguments", hint="pass variables with --env")
        text = sys.stdin.read() if target == _STDIN else read_manifest(Path(target))
        name = "<stdin>" if target == _STDIN else target
        return name, _manifest(text, name, wishes)
    words = [*others, *(rest or [])]
    if suffix == SCRIPT:
        return "", script_objects(target, words, wishes)
    return "", program_objects(target, words, wishes)


def _manifest(text: str, name: str, wishes: Wishes) -> list[Json]:
    try:
        return manifest_objects(text, name, wishes)
    except InvalidError as error:
        raise RefusedError([f"{name}: {line}" for line in error.lines], error.exit_code) from None


def _priority(objects: list[Json]) -> int:
    """What a task asks for, where the command says nothing."""
    if not any(obj.get("kind") == "Task" for obj in objects):
        return 0
    from trainway.sdk.tasks import priority_of  # noqa: PLC0415 - only for tasks

    return priority_of(objects)


def _submit(rest: Rest, source: str, objects: list[Json], options: dict[str, Any]) -> list[Json]:
    sent: Json = {
        **job_options(rest.address, prefer_our_python=False, backend=options.get("backend")),
        "priority": options["priority"] or _priority(objects),
        "oversubscribe": options["oversubscribe"],
    }
    for name in ("backend", "isolation"):
        if options.get(name) is not None:
            sent[name] = options[name]
    if options["notify"]:
        sent["notify"] = list(options["notify"])
    prefix = f"{source}: " if source else ""
    submission, count = Submission(objects, sent), options["num_jobs"]
    try:
        if count is None:
            job, warnings = rest.submit(submission)
            jobs = [job]
        else:
            jobs, warnings = rest.submit_array(submission, count)
    except InvalidError as error:
        lines = [f"{prefix}{line}" for line in error.lines]
        hint = [f"hint: {error.hint}"] if error.hint else []
        raise RefusedError([*lines, *hint], error.exit_code) from None
    for warning in warnings:
        echo_line(f"{prefix}warning: {warning}")
    return jobs
