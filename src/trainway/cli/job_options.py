"""Options and arguments that the job commands share."""

from collections.abc import Callable
from typing import Any, Final

import click

FORMS: Final = ("table", "wide", "json", "yaml", "name")
Command = Callable[..., Any]


def output_option(forms: tuple[str, ...] = FORMS) -> Callable[[Command], Command]:
    """`-o FORM`."""
    return click.option(
        "-o",
        "--output",
        type=click.Choice(forms),
        default=forms[0],
        show_default=True,
        help="The form to print in.",
    )


def watch_option(help_text: str) -> Callable[[Command], Command]:
    """`-w`."""
    return click.option("-w", "--watch", is_flag=True, help=help_text)


def job_argument(command: Command) -> Command:
    """One job, by name or id."""
    return click.argument("ref", metavar="NAME", shell_complete=complete_refs)(command)


def jobs_argument(command: Command) -> Command:
    """One or more jobs, by name or id."""
    return click.argument(
        "refs", metavar="NAME...", nargs=-1, required=True, shell_complete=complete_refs
    )(command)


def complete_refs(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Names of jobs that begin so; a server that does not run is not started for this."""
    from trainway.errors import TrainwayError  # noqa: PLC0415 - only a shell asks for this
    from trainway.sdk.address import Home, configured_address  # noqa: PLC0415 - as above
    from trainway.sdk.rest import Rest  # noqa: PLC0415 - as above
    from trainway.sdk.transport import Transport  # noqa: PLC0415 - as above

    home = Home.of_environment()
    try:
        address = configured_address() or home.address(home.server_info())
        jobs, _ = Rest(Transport(address)).page(limit=100, summary=True)
    except TrainwayError:
        return []
    names = dict.fromkeys(str(job["metadata"]["name"]) for job in jobs)
    return [name for name in names if name.startswith(typed)]
