"""`trainway environments`: the Python environments that jobs have made on this machine.

What knows them is a program of the agent, which is asked as a process: nothing of agents is
imported here.
"""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Final

import click

from trainway.cli.columns import Columns
from trainway.cli.job_options import output_option
from trainway.cli.output import echo, to_json
from trainway.cli.times import short
from trainway.errors import TrainwayError
from trainway.json_types import Json

_GROUP: Final = """List and remove the Python environments of this machine.

Jobs with --packages make them, and keep them for other jobs. They are in
~/.cache/trainway/environments, or where TRAINWAY_ENVIRONMENTS says. What a running job uses is
never removed.
"""


@click.group("environments", help=_GROUP)
def command() -> None:
    """The group; its help is above."""


@command.command("ls")
@output_option(("text", "json"))
def listing(output: str) -> None:
    """List the environments with their packages, last used first."""
    _show(_asked("ls"), output)


@command.command("prune")
@click.option("--all", "every", is_flag=True, help="All that no job uses now.")
@output_option(("text", "json"))
def prune(every: bool, output: str) -> None:
    """Remove what was not used for 30 days, and what is beyond the limit."""
    removed = _asked("prune", *(["--all"] if every else []))
    if output == "json":
        echo(to_json(removed))
        return
    from trainway.data.disk import in_words  # noqa: PLC0415 - not for the help

    what = "1 environment" if len(removed) == 1 else f"{len(removed)} environments"
    size = in_words(sum(int(each.get("bytes") or 0) for each in removed))
    echo(f"{what} removed, {size}\n" if removed else "nothing was to be removed\n")


def _show(found: Sequence[Json], output: str) -> None:
    if output == "json":
        echo(to_json(found))
        return
    if not found:
        echo("there are no environments on this machine\n")
        return
    from trainway.data.disk import in_words  # noqa: PLC0415 - not for the help

    rows = [
        (
            str(each["key"]),
            in_words(int(each.get("bytes") or 0)),
            str(each.get("python") or "-"),
            "now" if each["inUse"] else f"{short(max(0.0, time.time() - each['used']))} ago",
            ", ".join(each.get("packages") or ()),
        )
        for each in sorted(found, key=lambda each: -float(each["used"]))
    ]
    echo(Columns(("NAME", "SIZE", "PYTHON", "USED", "PACKAGES")).table(rows))


def _asked(*words: str) -> list[Json]:
    """What the program of the agent answers."""
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-m", "trainway.agent", "environment", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason was given"])[-1]
        raise TrainwayError(f"the environments of this machine cannot be read: {last}")
    found: list[Json] = json.loads(done.stdout)
    return found
