"""Options and arguments that the job commands share."""

from collections.abc import Callable
from typing import Any, Final

import click

from trainway.cli.completions import complete_refs
from trainway.sdk.phases import PHASES

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
        help="The output format.",
    )


def phase_option(help_text: str) -> Callable[[Command], Command]:
    """`--phase`, several times."""
    phases = click.Choice(PHASES, case_sensitive=False)
    return click.option("--phase", "phases", type=phases, multiple=True, help=help_text)


def label_option(help_text: str) -> Callable[[Command], Command]:
    """`--label KEY=VALUE`, several times."""
    return click.option("--label", "labels", metavar="KEY[=VALUE]", multiple=True, help=help_text)


def given_label_option(command: Command) -> Command:
    """`--label` of a new job."""
    return click.option(
        "--label",
        "labels",
        metavar="KEY=VALUE",
        multiple=True,
        help="A label of the job, by which jobs list finds it. Repeat it for several labels.",
    )(command)


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
