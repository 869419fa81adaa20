"""`trainway ssh`: a shell on the first node of a cluster."""

import os
import shlex
import shutil
import sys
from collections.abc import Sequence

import click

from trainway.cli.cluster_connection import connect
from trainway.cli.cluster_options import cluster_argument
from trainway.errors import UnavailableError


@click.command("ssh", context_settings={"ignore_unknown_options": True})
@cluster_argument
@click.argument("words", metavar="[COMMAND]...", nargs=-1, type=click.UNPROCESSED)
def command(cluster: str, words: tuple[str, ...]) -> None:
    """Open a shell on the first node of a cluster, or run a command there.

    On this machine it is your shell, in the folder of the cluster and with its GPUs. On SSH hosts
    it is ssh, and on Slurm a step of the allocation. What you run there is not a job: it does not
    keep the cluster from stopping.
    """
    place = connect().access(cluster)
    if place.get("step"):
        _become(stepped(place["words"], place["step"], words), dict(os.environ))
    if place.get("words"):
        _become([*place["words"], *words], dict(os.environ))
    shell = os.environ.get("SHELL") or "/bin/sh"
    os.chdir(place["directory"])
    line = [shell, "-c", " ".join(words)] if words else [shell]
    _become(line, {**os.environ, **place["variables"]})


def stepped(program: Sequence[str], step: str, words: Sequence[str]) -> list[str]:
    """The program that runs a command in a step of Slurm, or a shell where there is none."""
    inner = shlex.join(["sh", "-c", " ".join(words)]) if words else '"${SHELL:-/bin/sh}" -l'
    line = f"exec sh -c {shlex.quote(f'{step} {inner}')}"
    told = ["-t"] if program[0] == "ssh" and sys.stdin.isatty() else []
    return [program[0], *told, *program[1:], line]


def _become(words: Sequence[str], variables: dict[str, str]) -> None:
    program = shutil.which(words[0])
    if program is None:
        raise UnavailableError(f"{words[0]} is not installed here")
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(program, list(words), variables)  # noqa: S606 - what the user asked for
