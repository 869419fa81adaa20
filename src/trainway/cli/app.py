"""The commands, and what becomes of their errors.

Nobody sees a traceback: an error is a line that starts with `error:`, and its class decides the
exit status (see `trainway.errors`). What is wrong with inputs starts with the name of the file.
"""

import os
import sys
from typing import Any, Final, NoReturn

import click

from trainway import __version__
from trainway.cli.lazy import LazyGroup
from trainway.cli.output import echo, echo_line
from trainway.cli.refusal import RefusedError
from trainway.errors import TrainwayError

SECTIONS: Final = {
    "Jobs": (
        "run", "tune", "finetune", "schedule", "jobs", "runs", "queues", "nodes", "usage",
        "cost-report", "budgets", "dashboard",
    ),
    "Clusters": (
        "launch", "exec", "status", "queue", "logs", "cancel", "autostop", "stop", "start", "down",
        "ssh",
    ),
    "Data": ("data", "storage", "volumes", "cache", "environments"),
    "Clouds": ("optimize", "gpus", "catalog", "clouds"),
    "Kubernetes": ("mpijob", "operator", "crds"),
    "Look before you run": ("plan", "explain", "validate", "runtimes", "doctor", "notify"),
    "Run your own": ("server", "completion"),
}  # fmt: skip
"""The commands as the help lists them; each has a module of its own."""
MODULES: Final = {
    name: f"trainway.cli.commands.{name.replace('-', '_')}"
    for names in SECTIONS.values()
    for name in names
}
DEBUG: Final = "TRAINWAY_DEBUG"
INTERRUPTED: Final = 130
_WIDEST: Final = max(map(len, MODULES))
_INDENTED: Final = 6 + _WIDEST


class App(LazyGroup):
    """The root of all commands."""

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run a command and exit with its status."""
        sys.exit(self.status(*args, **kwargs))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, by section."""
        limit = formatter.width - _INDENTED
        for section, names in SECTIONS.items():
            found = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(section):
                formatter.write_dl(
                    [(name, one.get_short_help_str(limit)) for name, one in found if one],
                    col_max=_WIDEST,
                )

    def status(self, *args: Any, **kwargs: Any) -> int:
        """Run a command and give its exit status; what is wrong is told."""
        try:
            result = super().main(*args, **{**kwargs, "standalone_mode": False})
        except click.Abort:
            return INTERRUPTED
        except click.exceptions.NoArgsIsHelpError as error:
            echo(error.format_message() + "\n")
            return 0
        except click.UsageError as error:
            from trainway.cli.usage_mistake import (  # noqa: PLC0415 - for a mistake alone
                message_of,
                named_command,
            )

            words = args[0] if args and args[0] is not None else kwargs.get("args") or sys.argv[1:]
            command = error.ctx.command_path if error.ctx else named_command(self, words)
            return _fail(message_of(error), f"see {command} --help", error.exit_code)
        except click.ClickException as error:
            return _fail(error.format_message(), None, error.exit_code)
        except RefusedError as error:
            for line in error.lines:
                echo_line(line)
            return error.exit_code
        except TrainwayError as error:
            return _fail(error.message, error.hint, error.exit_code)
        except Exception as error:  # noqa: BLE001 - a bug; the user gets a line, we get a report
            if os.environ.get(DEBUG):
                import traceback  # noqa: PLC0415 - slow to import, and rarely needed

                traceback.print_exc()
            name = type(error).__name__
            return _fail(
                f"internal error: {name}: {error}",
                f"set {DEBUG}=1 to see where it happened, and please report it",
                1,
            )
        return result if isinstance(result, int) else 0


def _fail(message: str, hint: str | None, status: int) -> int:
    echo_line(f"error: {message}")
    if hint:
        echo_line(f"hint: {hint}")
    return status


app = App(
    "trainway",
    help="""Write a training job once, run it anywhere.

    Run a TrainJob, an MPIJob, a JobSet, a task, a script or a command on this machine, on SSH
    hosts, on Slurm, on Kubernetes or on rented machines. Check a job, and see the objects that it
    turns into, without a cluster.
    """,
    context_settings={"help_option_names": ["-h", "--help"]},
    modules=MODULES,
)
click.version_option(__version__, prog_name="trainway", message="%(prog)s %(version)s")(app)
