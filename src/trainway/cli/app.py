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
from trainway.cli.output import echo_line
from trainway.cli.refusal import RefusedError
from trainway.errors import TrainwayError

MODULES: Final = {
    "run": "trainway.cli.commands.run",
    "jobs": "trainway.cli.commands.jobs",
    "launch": "trainway.cli.commands.launch",
    "exec": "trainway.cli.commands.exec",
    "status": "trainway.cli.commands.status",
    "queue": "trainway.cli.commands.queue",
    "logs": "trainway.cli.commands.logs",
    "cancel": "trainway.cli.commands.cancel",
    "autostop": "trainway.cli.commands.autostop",
    "stop": "trainway.cli.commands.stop",
    "start": "trainway.cli.commands.start",
    "down": "trainway.cli.commands.down",
    "ssh": "trainway.cli.commands.ssh",
    "explain": "trainway.cli.commands.explain",
    "validate": "trainway.cli.commands.validate",
    "runtimes": "trainway.cli.commands.runtimes",
    "crds": "trainway.cli.commands.crds",
    "server": "trainway.cli.commands.server",
    "operator": "trainway.cli.commands.operator",
    "doctor": "trainway.cli.commands.doctor",
    "completion": "trainway.cli.commands.completion",
}
DEBUG: Final = "TRAINWAY_DEBUG"
_INTERRUPTED: Final = 130


class App(LazyGroup):
    """The root of all commands."""

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run a command and exit with its status."""
        sys.exit(self._status(*args, **kwargs))

    def _status(self, *args: Any, **kwargs: Any) -> int:
        try:
            result = super().main(*args, **{**kwargs, "standalone_mode": False})
        except click.Abort:
            return _INTERRUPTED
        except click.UsageError as error:
            command = error.ctx.command_path if error.ctx else "trainway"
            return _fail(error.format_message(), f"see {command} --help", error.exit_code)
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
                f"internal error: {name}: {error}", f"{DEBUG}=1 shows where; please report it", 1
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

    Run a TrainJob, an MPIJob, a JobSet, a script or a command on this machine; or see, without a
    cluster, the objects that a job turns into, and check what you wrote.
    """,
    context_settings={"help_option_names": ["-h", "--help"]},
    modules=MODULES,
)
click.version_option(__version__, prog_name="trainway", message="%(prog)s %(version)s")(app)
