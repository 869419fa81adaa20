"""`trainway operator`: the controllers that run in a Kubernetes cluster.

The operator is a program of its own, since it needs packages that a client has no use for. These
commands become that program; its options are its own, and `--help` of each comes from it.
"""

import os
import sys
from importlib.util import find_spec
from typing import Final

import click

from trainway.errors import UnavailableError

_PACKAGES: Final = ("aiohttp", "kubernetes_asyncio", "orjson")
_PASSED_ON: Final = {"ignore_unknown_options": True, "help_option_names": []}


@click.group("operator")
def command() -> None:
    """Run the Kubernetes operator, or install it in a cluster.

    It turns TrainJobs and MPIJobs in a cluster into JobSets, in place of Kubeflow Trainer and of
    MPI Operator.
    """


@command.command("run", context_settings=_PASSED_ON)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS]")
def run(arguments: tuple[str, ...]) -> None:
    """Run the controllers and webhooks in this process."""
    _become("run", arguments)


@command.command("install", context_settings=_PASSED_ON)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS]")
def install(arguments: tuple[str, ...]) -> None:
    """Install or update the operator in a cluster."""
    _become("install", arguments)


@command.command("uninstall", context_settings=_PASSED_ON)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS]")
def uninstall(arguments: tuple[str, ...]) -> None:
    """Remove the operator from a cluster."""
    _become("uninstall", arguments)


def _become(name: str, arguments: tuple[str, ...]) -> None:
    """Replace this process by the operator."""
    missing = [package for package in _PACKAGES if find_spec(package) is None]
    if missing:
        raise UnavailableError(
            f"the operator needs packages that are not installed: {', '.join(missing)}",
            hint="pip install 'trainway[kubernetes]'",
        )
    sys.stdout.flush()
    sys.stderr.flush()
    program = [sys.executable, "-m", "trainway.operator", name, *arguments]
    os.execv(sys.executable, program)  # noqa: S606 (our own program)
