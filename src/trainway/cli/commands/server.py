"""`trainway server`: the embedded server, which other commands start by themselves."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe
from time import sleep
from typing import Final

import click

from trainway.cli.job_options import output_option
from trainway.cli.output import echo, echo_line, to_json, to_yaml
from trainway.errors import ConflictError, NotFoundError
from trainway.sdk.address import Home, configured_address, is_loopback
from trainway.sdk.rest import Json, Rest
from trainway.sdk.server_process import ServerProcess, listens
from trainway.sdk.transport import Transport

_CHECK_S: Final = 0.1
_CHUNK: Final = 1 << 16


@click.group("server")
def command() -> None:
    """Start, stop or look at the embedded server.

    It starts with the first command that needs it, and ends when it is idle and nothing runs. Jobs
    go on without it.
    """


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
    help="Listen there as well as on the socket.",
)
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="What clients must show; needed to listen on more than this machine.",
)
def start(listen: str | None, token_file: Path | None) -> None:
    """Start the server."""
    process = _process()
    options = ["--listen", listen] if listen else []
    options += ["--token-file", str(token_file.absolute())] if token_file else []
    if listens(process.home.address(process.home.server_info())):
        if options:
            raise ConflictError(
                "a server runs already, and listens where it listens",
                hint="trainway server stop, then start it again; jobs go on meanwhile",
            )
        process.ensure()
        echo_line("a server runs already")
        return
    token = None if token_file else _new_token(process.home, listen)
    address = process.start(options)
    if token:
        echo_line("clients need this token, which is shown only now: TRAINWAY_TOKEN=" + token)
    echo_line(f"the server listens at {address}" + (f" and {listen}" if listen else ""))


@command.command("stop")
def stop() -> None:
    """Stop the server; jobs go on."""
    stopped = _process().stop()
    echo_line("the server has stopped" if stopped else "no server runs")


@command.command("status")
@output_option(("table", "json", "yaml"))
def status(output: str) -> None:
    """Show the server: pid, socket, version, number of jobs."""
    info = _running().server()
    if output == "table":
        echo("".join(f"{name + ':':10}{value}\n" for name, value in _facts(info)))
    else:
        echo(to_json(info) if output == "json" else to_yaml([info]))


@command.command("logs")
@click.option("-f", "--follow", is_flag=True, help="Go on with what is written from now on.")
@click.option("--tail", type=click.IntRange(min=0), help="Only so many lines from the end.")
def logs(follow: bool, tail: int | None) -> None:
    """Print what the server says about itself."""
    home = Home.of_environment()
    try:
        with home.log.open("rb") as file:
            text = file.read()
            lines = text.splitlines(keepends=True)
            shown = lines if tail is None else lines[len(lines) - min(tail, len(lines)) :]
            click.echo(b"".join(shown), nl=False)
            while follow:
                chunk = file.read(_CHUNK)
                click.echo(chunk, nl=False) if chunk else sleep(_CHECK_S)
    except FileNotFoundError:
        raise NotFoundError(f"{home.log}: no server has run here yet") from None


def _new_token(home: Home, listen: str | None) -> str | None:
    """A token for a server that others can reach and that has none; only its digest is kept."""
    host = (listen or "localhost:").rpartition(":")[0].strip("[]")
    path = home.path / "token"
    if is_loopback(host) or path.exists():
        return None
    token = token_urlsafe(32)
    home.path.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_text(f"sha256:{sha256(token.encode()).hexdigest()}\n")
    return token


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
        raise NotFoundError("no server runs", hint="it starts with the first command that needs it")
    return Rest(Transport(address))


def _facts(info: Json) -> Iterator[tuple[str, object]]:
    for name in ("pid", "socket", "version", "started"):
        if info.get(name):
            yield name.capitalize(), info[name]
    jobs = info.get("jobs") or {}
    yield "Jobs", f"{jobs.get('active', 0)} active, {jobs.get('total', 0)} in all"
