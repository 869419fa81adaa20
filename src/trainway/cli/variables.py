"""Variables and secrets as commands take them: one by one, or from files of `NAME=VALUE`."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from trainway.cli.completions import complete_files
from trainway.errors import UnreadableError, UsageError

if TYPE_CHECKING:
    from trainway.sdk.manifests import Wishes

Command = Callable[..., Any]


def env_option(command: Command) -> Command:
    """`--env NAME=VALUE`."""
    return click.option(
        "--env",
        "variables",
        metavar="NAME[=VALUE]",
        multiple=True,
        help="A variable for the job; NAME alone takes the value from your shell. May be given"
        " several times.",
    )(command)


def task_options(command: Command) -> Command:
    """`--env-file`, `--secret` and `--secret-file`."""
    options = (
        click.option(
            "--env-file",
            "env_files",
            metavar="FILE",
            multiple=True,
            shell_complete=complete_files,
            help="Variables from a file with lines NAME=VALUE; --env takes precedence.",
        ),
        click.option(
            "--secret",
            "secrets",
            metavar="NAME[=VALUE]",
            multiple=True,
            help="Like --env, but the value is never shown. In a cluster it is stored in a Secret.",
        ),
        click.option(
            "--secret-file",
            "secret_files",
            metavar="FILE",
            multiple=True,
            shell_complete=complete_files,
            help="Like --env-file, for secrets.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def given(option: str, texts: Iterable[str], files: Iterable[str] = ()) -> dict[str, str]:
    """The variables of an option and of its files; the option counts before a file."""
    found: dict[str, str] = {}
    for name in files:
        found.update(_of_file(name))
    found.update(_variable(option, text) for text in texts)
    return found


class Given(NamedTuple):
    """The variables and the secrets of a command."""

    env: dict[str, str]
    secrets: dict[str, str]


def given_variables(options: dict[str, Any]) -> Given:
    """What `env_option` and `task_options` say."""
    return Given(
        given("--env", options["variables"], options["env_files"]),
        given("--secret", options["secrets"], options["secret_files"]),
    )


def variables_of(options: dict[str, Any]) -> "Wishes":
    """What the options say over a file."""
    from trainway.sdk.manifests import Wishes  # noqa: PLC0415 - not for other commands

    return Wishes(**given_variables(options)._asdict())


def _of_file(name: str) -> dict[str, str]:
    from trainway.api.task.variables import parse_env_file  # noqa: PLC0415 - seldom given

    try:
        return parse_env_file(Path(name).read_text("utf-8-sig"))
    except UsageError as error:
        raise UnreadableError(f"{name}: {error}") from None
    except UnicodeDecodeError:
        raise UnreadableError(f"{name}: not UTF-8") from None
    except (OSError, ValueError) as error:
        raise UnreadableError(f"{name}: {getattr(error, 'strerror', None) or error}") from None


def _variable(option: str, text: str) -> tuple[str, str]:
    name, is_given, value = text.partition("=")
    if not name:
        shown = text if option == "--env" else "=..."
        raise UsageError(f"{option} {shown}: the name is missing")
    if not is_given and name not in os.environ:
        raise UsageError(
            f"{option} {name}: this variable is not set here", hint=f"write {name}=VALUE"
        )
    return name, value if is_given else os.environ[name]
