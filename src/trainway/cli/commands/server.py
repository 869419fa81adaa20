"""`trainway server`: the embedded server, which other commands start by themselves."""

import os
from collections.abc import Iterator
from pathlib import Path
from time import sleep
from typing import BinaryIO, Final

import click

from trainway.cli.commands import server_upkeep
from trainway.cli.connection import connect, expect_notices
from trainway.cli.job_options import output_option
from trainway.cli.output import echo, echo_line, to_json, to_yaml
from trainway.errors import NotFoundError
from trainway.json_types import Json
from trainway.sdk.address import Home, configured_address, listens
from trainway.sdk.rest import Rest
from trainway.sdk.server_process import ServerProcess
from trainway.sdk.transport import Transport

LOG_FORMATS: Final = ("text", "json")
_CHECK_S: Final = 0.1
_CHUNK: Final = 1 << 16


@click.group("server")
def command() -> None:
    """Start, stop or look at the embedded server.

    It starts with the first command that needs it, and ends when no job is active and nobody uses
    it. Jobs keep running without it.
    """


for _each in (server_upkeep.check, server_upkeep.backup, server_upkeep.restore):
    command.add_command(_each)


def _checked_listen(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    host, _, port = (value or "").rpartition(":")
    if value is not None and not (host and port.isdecimal()):
        raise click.BadParameter(f"{value!r} is not HOST:PORT")
    return value


@command.command("start")
@click.option(
    "--listen",
    metavar="HOST:PORT",
    callback=_checked_listen,
    help="Also listen on this address, in addition to the socket.",
)
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file with the token that clients must send, instead of a generated one.",
)
@click.option(
    "--log-format",
    type=click.Choice(LOG_FORMATS),
    help="Write the server's log as lines of text or as JSON objects.",
)
def start(listen: str | None, token_file: Path | None, log_format: str | None) -> None:
    """Start the server."""
    process = _process()
    options = ["--listen", listen] if listen else []
    options += ["--log-format", log_format] if log_format else []
    options += ["--token-file", str(token_file.absolute())] if token_file else []
    if listens(process.home.address(process.home.server_info())):
        if not options:
            process.ensure()
            echo_line("the server is already running")
            return
        process.stop()
        why = "so that it listens there" if listen else "with these options"
        echo_line(f"the server was restarted {why}; jobs keep running")
    address = process.start(options)
    if not listen:
        echo_line(f"the server listens on {address}")
        return
    place = process.home.server_info().get("listen", listen)
    echo_line(f"the server listens on {address} and http://{place}")
    token = f"the one in {token_file}" if token_file else "`trainway server token show` prints it"
    echo_line(f"clients on other machines need its token: TRAINWAY_TOKEN=... ({token})")


@command.command("stop")
def stop() -> None:
    """Stop the server; jobs keep running."""
    stopped = _process().stop()
    echo_line("the server has stopped" if stopped else "no server is running")


@command.command("status")
@output_option(("table", "json", "yaml"))
def status(output: str) -> None:
    """Show the server: pid, socket, version, number of jobs."""
    info = _running().server()
    if output == "table":
        echo("".join(f"{name + ':':10}{value}\n" for name, value in _facts(info)))
    else:
        echo(to_json(info) if output == "json" else to_yaml([info]))


@command.group("token")
def token() -> None:
    """Show or replace the token that clients need to use the server over TCP."""


@token.command("show")
def show_token() -> None:
    """Print the token of the server."""
    home = Home.of_environment()
    found = home.token()
    if not found:
        raise NotFoundError(
            f"there is no token in {home.token_path}",
            hint="trainway server token rotate makes one",
        )
    echo(found + "\n")


@token.command("rotate")
def rotate_token() -> None:
    """Replace the token; clients with the old one are disconnected."""
    connect().rotate_token()
    echo_line("the token was replaced; trainway server token show prints the new one")


@command.command("logs")
@click.option("-f", "--follow", is_flag=True, help="Keep printing new lines.")
@click.option("--tail", type=click.IntRange(min=0), help="Only this many lines from the end.")
def logs(follow: bool, tail: int | None) -> None:
    """Print the log of the server."""
    home = Home.of_environment()
    try:
        with home.log.open("rb") as file:
            text = file.read()
            lines = text.splitlines(keepends=True)
            shown = lines if tail is None else lines[len(lines) - min(tail, len(lines)) :]
            click.echo(b"".join(shown), nl=False)
            position = file.tell()
    except FileNotFoundError:
        raise NotFoundError(f"{home.log}: no server has run here yet") from None
    if follow:
        _follow(home.log, position)


def _follow(path: Path, position: int) -> None:
    """Print what is written to the log, also after the server has begun another file."""
    while True:
        with path.open("rb") as file:
            file.seek(position)
            while chunk := file.read(_CHUNK) or _later(file, path):
                click.echo(chunk, nl=False)
        position = 0


def _later(file: BinaryIO, path: Path) -> bytes:
    """What is written next; nothing if the rest is in another file."""
    while True:
        is_over = _is_replaced(file, path)
        chunk = file.read(_CHUNK)
        if chunk or is_over:
            return chunk
        sleep(_CHECK_S)


def _is_replaced(file: BinaryIO, path: Path) -> bool:
    try:
        return not os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _process() -> ServerProcess:
    return ServerProcess(Home.of_environment(), lambda message: echo_line(f"warning: {message}"))


def _running() -> Rest:
    """The server if it runs; asking how it is does not start it."""
    configured = configured_address()
    if configured is not None:
        return Rest(Transport(configured))
    home = Home.of_environment()
    address = home.address(home.server_info())
    if not listens(address):
        raise NotFoundError(
            "no server is running", hint="it starts with the first command that needs it"
        )
    expect_notices()
    return Rest(Transport(address))


def _facts(info: Json) -> Iterator[tuple[str, object]]:
    for name in ("pid", "socket", "version", "started"):
        if info.get(name):
            yield name.capitalize(), info[name]
    jobs = info.get("jobs") or {}
    yield "Jobs", f"{jobs.get('active', 0)} active, {jobs.get('total', 0)} in all"
