"""The plugins `kubectl odh` and `oc odh`: `trainway mpijob` under the names that people look for.

kubectl and oc run an executable `kubectl-odh` or `oc-odh` from the PATH for a subcommand that they
do not know, and pass the rest of the line on.
"""

from typing import Any, Final, NoReturn

import click

from trainway import __version__
from trainway.cli.app import INTERRUPTED, App
from trainway.cli.lazy import LazyGroup

_MODULES: Final = {"mpijob": "trainway.cli.commands.mpijob"}


class Plugin(App):
    """The root of the commands of a plugin, which has no sections and kubectl's exit status."""

    def status(self, *args: Any, **kwargs: Any) -> int:
        """What kubectl and oc exit with: 1, whatever is wrong."""
        status = super().status(*args, **kwargs)
        return status if status == INTERRUPTED else min(status, 1)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands."""
        LazyGroup.format_commands(self, ctx, formatter)


plugin: Final = Plugin(
    "odh",
    help="""Training jobs in a Kubernetes cluster.

    This plugin comes with Trainway; trainway mpijob is the same command.
    """,
    context_settings={"help_option_names": ["-h", "--help"]},
    modules=_MODULES,
)
click.version_option(__version__, prog_name="trainway", message="%(prog)s %(version)s")(plugin)


def kubectl() -> NoReturn:
    """Run as `kubectl odh`."""
    plugin.main(prog_name="kubectl odh")


def oc() -> NoReturn:
    """Run as `oc odh`."""
    plugin.main(prog_name="oc odh")
