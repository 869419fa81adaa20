"""`trainway launch`: a task on a cluster, which is made if there is none."""

import os
import sys
from collections.abc import Mapping
from typing import Any, Final

import click

from trainway.cli.cluster_connection import confirm, connect
from trainway.cli.cluster_options import (
    WordsCommand,
    idle_option,
    infra_option,
    machine_group,
    task_group,
    task_wishes,
    yes_option,
)
from trainway.cli.cluster_target import target
from trainway.cli.cluster_text import autostop, resources
from trainway.cli.completions import complete_clusters, complete_files
from trainway.cli.job_options import given_label_option
from trainway.cli.output import echo, echo_line
from trainway.cli.refusal import RefusedError
from trainway.cli.rented_cluster import until_up
from trainway.cli.slurm_option import slurm_option
from trainway.cli.spot_option import spot_option
from trainway.errors import InvalidError
from trainway.json_types import Json
from trainway.sdk.cluster_rest import ClusterRest
from trainway.sdk.cluster_submission import number_of, submit
from trainway.sdk.cluster_tasks import ClusterTask
from trainway.sdk.job_labels import parse_labels
from trainway.sdk.slurm_options import parsed
from trainway.sdk.submitter import user_label

_HELP: Final = """Run a task on a cluster, and make the cluster if there is none.

\b
trainway launch TASK.yaml -c NAME
trainway launch -c NAME --gpus A100:0.5 'echo $HOSTNAME'
trainway launch -c NAME -- COMMAND ARGS...

A cluster is a part of this machine, of a pool of SSH hosts, or of a Slurm cluster that you hold, or
machines that are rented of a cloud (--infra aws, --infra cloud for the cheapest). It has its own
queue. A new cluster has the nodes and resources that the task asks for. The setup of
the task runs first. Ctrl-C asks whether to leave the job running or to cancel it.

Exit status: 0 the job succeeded, 100 it failed, 101 it has not ended, 103 it was cancelled; 1 an
error, 2 wrong usage, 3 something was not found.
"""


@click.command("launch", cls=WordsCommand, help=_HELP)
@click.argument("words", metavar="[TASK.yaml|COMMAND]...", nargs=-1, shell_complete=complete_files)
@click.option(
    "-c", "--cluster", default="", help="The name of the cluster; without it a name is generated.",
    shell_complete=complete_clusters,
)  # fmt: skip
@infra_option
@task_group
@machine_group
@click.option(
    "-d", "--detach-run", "detach", is_flag=True, help="Only submit the job, and print its number."
)
@idle_option
@click.option(
    "--down", is_flag=True, help="Take the cluster down when it is idle, instead of stopping it."
)
@click.option(
    "-r", "--retry-until-up", is_flag=True,
    help="Where machines are rented: go on asking until a cloud has them.",
)  # fmt: skip
@spot_option
@click.option(
    "--max-cost", type=click.FloatRange(0, 1e9, min_open=True), metavar="DOLLARS",
    help="How much the cluster may cost. At 80 % somebody is told, and when all is spent, it is"
    " taken down. For a cluster that is there already, this replaces its limit.",
)  # fmt: skip
@yes_option
@click.option("--no-setup", is_flag=True, help="Do not run the setup of the task.")
@click.option("--fast", is_flag=True, help="Do not run the setup if the cluster is already up.")
@given_label_option
@slurm_option
@click.option(
    "--dryrun", "--dry-run", is_flag=True, help="Only describe the cluster that would be made."
)
@click.pass_context
def command(ctx: click.Context, /, words: tuple[str, ...], **options: Any) -> int:
    """Make the cluster, submit, then show."""
    task = target(words, ctx.obj, task_wishes(options))
    rest = connect()
    wanted = {
        "name": options["cluster"],
        "infra": options["infra"],
        "nodes": task.nodes,
        "resources": {**task.resources, **({"use_spot": True} if options["use_spot"] else {})},
        "idle_minutes": options["idle_minutes"],
        "down": options["down"],
        "retry_until_up": options["retry_until_up"],
        "slurm": {**task.slurm(options["infra"]), **parsed(options["slurm"])},
    }
    labels = parse_labels(options["labels"])
    wanted["labels"] = {**user_label(os.environ), **labels}
    if options["max_cost"] is not None:
        wanted["max_cost"] = options["max_cost"]
    known = _known(rest, options["cluster"])
    if options["dryrun"]:
        _say(rest.launch({**wanted, "dry_run": True}), "would be")
        return 0
    if known is None and not options["yes"] and sys.stdin.isatty() and sys.stderr.isatty():
        _say(rest.launch({**wanted, "dry_run": True}), "will be")
        if not confirm("Launch it?", yes=False):
            return 1
    cluster = until_up(rest, rest.launch(wanted))
    is_up = known is not None and known["status"]["phase"] == "UP"
    if known is None:
        _say(cluster, "is")
    with_setup = not options["no_setup"] and not (options["fast"] and is_up)
    return run(rest, cluster, task, with_setup=with_setup, detach=options["detach"], labels=labels)


def run(
    rest: ClusterRest,
    cluster: Json,
    task: ClusterTask,
    *,
    with_setup: bool,
    detach: bool,
    labels: Mapping[str, str] | None = None,
) -> int:
    """Submit a task to a cluster, then show it; the exit status says how it ended."""
    try:
        job, warnings = submit(rest, cluster, task, with_setup=with_setup, labels=labels)
    except InvalidError as error:
        raise RefusedError(list(error.lines), error.exit_code) from None
    for warning in warnings:
        echo_line(f"warning: {warning}")
    name = cluster["metadata"]["name"]
    if detach:
        echo(f"{name} {number_of(job)}\n")
        return 0
    from trainway.cli.cluster_jobs import follow  # noqa: PLC0415 - not for -d

    return follow(rest, name, job)


def _known(rest: ClusterRest, name: str) -> Json | None:
    found = rest.clusters() if name else ()
    return next((item for item in found if item["metadata"]["name"] == name), None)


def _say(cluster: Json, verb: str) -> None:
    name, spec = cluster["metadata"]["name"], cluster["spec"]
    stops = autostop(spec.get("autostop"))
    more = f", autostop {stops}" if spec.get("autostop") else ""
    echo_line(f"cluster {name or '(new)'} {verb} {resources(cluster)} on {spec['infra']}{more}")
