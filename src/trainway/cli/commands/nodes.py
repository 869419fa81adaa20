"""`trainway nodes`: the machines that jobs run on, and which of them are set aside."""

import os

import click

from trainway.cli.columns import Columns
from trainway.cli.completions import complete_infras
from trainway.cli.connection import connect
from trainway.cli.job_options import output_option
from trainway.cli.node_text import HEADER, minute, row
from trainway.cli.output import echo, echo_line, to_json, to_yaml
from trainway.cli.times import parse_duration
from trainway.errors import UnavailableError, UsageError
from trainway.jobset.labels import USER
from trainway.sdk.node_rest import NodeRest
from trainway.sdk.submitter import user_label

_LONGEST = 366 * 86400
_ON = click.option(
    "--on",
    "--infra",
    "backend",
    metavar="PLACE",
    required=True,
    help="The place that the node belongs to, such as ssh/lab.",
    shell_complete=complete_infras,
)


def _seconds(_context: click.Context, _option: click.Parameter, text: str | None) -> float | None:
    if text is None:
        return None
    seconds = parse_duration(text)
    if not 0 < seconds <= _LONGEST:
        raise UsageError(f"a node cannot be set aside for {text}", hint="write at most 366d")
    return seconds


@click.group("nodes")
def command() -> None:
    """See the nodes that jobs run on, and set some of them aside.

    A node that is set aside takes no new pods; those that it has go on. A node of Slurm is set
    aside for jobs of this server only. An SSH host that loses three attempts of jobs within an hour
    is set aside by the server, unless it is the last one.
    """


@command.command("list")
@click.option(
    "--on",
    "--infra",
    "backend",
    metavar="PLACE",
    help="One place only, such as ssh/lab. By default all that the server knows.",
    shell_complete=complete_infras,
)
@output_option(("table", "json", "yaml", "name"))
def list_nodes(backend: str | None, output: str) -> None:
    """List nodes, with what is free, and the attempts of jobs that failed there in the last day."""
    rest = NodeRest(connect().transport)
    found = [rest.nodes(place) for place in ([backend] if backend else rest.places())]
    if output == "json":
        echo(to_json(found))
    elif output == "yaml":
        echo(to_yaml(found))
    else:
        rows = [row(place["name"], node) for place in found for node in place["nodes"]]
        names = "".join(f"{cells[1]}\n" for cells in rows)
        echo(names if output == "name" else Columns(HEADER).table(rows) if rows else "")
    for place in found:
        if place["problem"] and backend:
            raise UnavailableError(place["problem"], hint=place["hint"] or None)
        if place["problem"]:
            echo_line(f"{place['name']}: {place['problem']}")
        elif backend and not place["tells"]:
            echo_line(f"{place['name']} cannot list its nodes")


@command.command("drain")
@click.argument("node")
@_ON
@click.option("--reason", default="", help="Why, for whoever looks later.")
@click.option(
    "--for",
    "time",
    metavar="TIME",
    callback=_seconds,
    help="For how long, such as 2h; then the node takes pods again by itself. Not on Kubernetes.",
)
def drain(node: str, backend: str, reason: str, time: float | None) -> None:
    """Let a node take no new pods. Those that it has go on."""
    by = user_label(os.environ).get(USER, "")
    done = NodeRest(connect().transport).drain(backend, node, reason, by, time)
    until = f" until {minute(done['drainedUntil'])}" if done.get("drainedUntil") else ""
    echo(f"{done['node']} of {done['backend']} is set aside{until}: {done['drained']}\n")


@command.command("undrain")
@click.argument("node")
@_ON
def undrain(node: str, backend: str) -> None:
    """Let a node take pods again."""
    done = NodeRest(connect().transport).undrain(backend, node)
    echo(f"{done['node']} of {done['backend']} takes pods again\n")
