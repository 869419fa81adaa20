from importlib import import_module
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from trainway import __version__
from trainway.cli import app as module
from trainway.cli.app import MODULES, app
from trainway.errors import NotFoundError, UnreadableError


def invoke(*args: str) -> Result:
    return CliRunner().invoke(app, args)


@pytest.mark.parametrize("name", MODULES)
def test_every_command_has_its_module(name: str) -> None:
    assert import_module(MODULES[name]).command.name == name


@pytest.mark.parametrize(
    ("args", "stderr"),
    [
        (
            ["expalin"],
            'error: no command "expalin"; did you mean "explain"?\nhint: see trainway --help',
        ),
        (["zzz"], 'error: no command "zzz"\nhint: see trainway --help'),
        (["--zzz"], "error: there is no option --zzz\nhint: see trainway --help"),
        (
            ["explain"],
            (
                "error: no file is given: name one, or write - for stdin\n"
                "hint: see trainway explain --help"
            ),
        ),
        (
            ["runtimes", "show"],
            "error: NAME is missing\nhint: see trainway runtimes show --help",
        ),
        (["runtimes", "zzz"], 'error: no command "zzz"\nhint: see trainway runtimes --help'),
        (
            ["runtimes", "lst"],
            'error: no command "lst"; did you mean "list"?\nhint: see trainway runtimes --help',
        ),
        (
            ["runtimes", "get"],
            'error: no command "get"; did you mean "show"?\nhint: see trainway runtimes --help',
        ),
        (["explain", "-f", "-", "-f", "-"], "error: stdin (-f -) can be read only once"),
    ],
)
def test_wrong_usage_ends_with_2_and_a_hint(args: list[str], stderr: str) -> None:
    result = CliRunner().invoke(app, args, prog_name="trainway")

    assert result.exit_code == 2
    assert result.stderr == stderr + "\n"
    assert result.stdout == ""


def test_the_version_is_told() -> None:
    assert invoke("--version").stdout == f"trainway {__version__}\n"


class BoomError(Exception):
    pass


@pytest.mark.parametrize(
    ("error", "status", "stderr"),
    [
        (NotFoundError("no x", hint="try y"), 3, "error: no x\nhint: try y\n"),
        (UnreadableError("cannot\nread"), 2, "error: cannot\\nread\n"),
        (click.ClickException("sorry"), 1, "error: sorry\n"),
        (KeyboardInterrupt(), 130, "\n"),
        (
            BoomError("oh"),
            1,
            (
                "error: internal error: BoomError: oh\n"
                "hint: set TRAINWAY_DEBUG=1 to see where it happened, and please report it\n"
            ),
        ),
        (RecursionError("deep"), 1, None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_an_error_becomes_a_line_and_a_status(
    error: BaseException, status: int, stderr: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    @click.command()
    def command() -> None:
        raise error

    monkeypatch.setattr(app, "get_command", lambda *_: command)
    monkeypatch.delenv(module.DEBUG, raising=False)

    result = invoke("explain")

    assert result.exit_code == status
    assert "Traceback" not in result.stderr
    assert stderr is None or result.stderr == stderr


def test_a_bug_is_shown_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    def command() -> None:
        raise BoomError("oh")

    monkeypatch.setattr(app, "get_command", lambda *_: command)
    monkeypatch.setenv(module.DEBUG, "1")

    assert "Traceback" in invoke("explain").stderr


def test_a_status_that_a_command_returns_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    @click.pass_context
    def command(ctx: click.Context) -> Any:
        ctx.exit(7)

    monkeypatch.setattr(app, "get_command", lambda *_: command)

    assert invoke("explain").exit_code == 7
