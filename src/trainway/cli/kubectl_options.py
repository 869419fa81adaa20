"""Options with kubectl's names and meanings, for commands that talk to a cluster themselves."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from trainway.api.pod_wishes import is_namespace
from trainway.cli.completions import complete_files
from trainway.errors import UsageError

if TYPE_CHECKING:
    from trainway.training.cluster_jobs import ClusterJobs

T = TypeVar("T")
Command = Callable[..., Any]

FORMATS: Final = ("wide", "yaml", "json", "name")


@dataclass(frozen=True)
class Target:
    """Which namespace of which cluster."""

    namespace: str | None
    """None: that of the context; empty: all."""
    context: str | None
    kubeconfig: str | None

    def mpijobs(self) -> AbstractAsyncContextManager["ClusterJobs"]:
        """The MPIJobs there."""
        from trainway.training.packages import require_packages  # noqa: PLC0415 - seldom needed

        require_packages()
        from trainway.training.cluster_jobs import cluster_jobs  # noqa: PLC0415 - as above
        from trainway.training.kinds import MPIJOB  # noqa: PLC0415 - as above

        return cluster_jobs(MPIJOB, self.namespace, self.kubeconfig, self.context)


def carry_out(work: Coroutine[Any, Any, T]) -> T:
    """Do what a command has to do."""
    return asyncio.run(work)


def target_options(command: Command) -> Command:
    """`-n`, `--context` and `--kubeconfig`."""
    for option in (
        click.option("--kubeconfig", metavar="FILE", shell_complete=complete_files,
                     help="The kubeconfig; by default KUBECONFIG or ~/.kube/config."),
        click.option("--context", metavar="NAME", help="A context of the kubeconfig."),
        click.option("-n", "--namespace", metavar="NAME",
                     help="The namespace; by default that of the context."),
    ):  # fmt: skip
        command = option(command)
    return command


def target_of(options: dict[str, Any]) -> Target:
    """What these options say, and -A where there is one; they are taken out."""
    namespace = options.pop("namespace")
    if options.pop("all_namespaces", False):
        if namespace is not None:
            raise UsageError("-n and -A cannot be given together", hint="leave one of them out")
        namespace = ""
    elif namespace is not None and not is_namespace(namespace):
        raise UsageError(f"-n: {namespace!r} is not the name of a namespace")
    return Target(namespace, options.pop("context"), options.pop("kubeconfig"))


def all_namespaces_option(command: Command) -> Command:
    """`-A`."""
    return click.option("-A", "--all-namespaces", is_flag=True, help="The jobs of all namespaces.")(
        command
    )


def selector_option(command: Command) -> Command:
    """`-l`."""
    return click.option(
        "-l", "--selector", metavar="LABELS", default="", help="Only jobs with these labels: a=b,c."
    )(command)


def output_option(*formats: str) -> Callable[[Command], Command]:
    """`-o`."""
    return click.option("-o", "--output", type=click.Choice(formats), help="How to print it.")
