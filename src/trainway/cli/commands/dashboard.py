"""`trainway dashboard`: the jobs in a browser."""

import os
import sys
from typing import Final

import click

from trainway.cli.connection import connect
from trainway.cli.output import echo, echo_line
from trainway.sdk.address import Address

_PAGE: Final = "/dashboard/"


@click.command("dashboard")
@click.option("--no-open", is_flag=True, help="Print the link, and open no browser.")
@click.option(
    "--port",
    type=click.IntRange(1, 65_535),
    help="The port of this machine on which the dashboard listens. Default: one that is free.",
)
@click.option("--revoke", is_flag=True, help="Log out every browser that uses the dashboard.")
def command(no_open: bool, port: int | None, revoke: bool) -> None:
    """Open the dashboard in the browser.

    The link logs one browser in and works once, within two minutes. The browser stays logged in for
    seven days.
    """
    rest = connect()
    if revoke:
        if no_open or port is not None:
            raise click.UsageError("--revoke takes no other options")
        count = rest.transport.request("DELETE", "/dashboard/sessions")["sessions"]
        echo_line(f"{count} browser{' was' if count == 1 else 's were'} logged out")
        return
    is_local = bool(rest.address.socket)
    if port is not None and not is_local:
        raise click.UsageError(
            f"--port is for a server of this machine; this one is {rest.address}"
        )
    body = {"local": is_local, "port": port or 0}
    made = rest.transport.request("POST", "/dashboard/links", body=body)
    address = rest.address
    if is_local:
        address = Address(host="127.0.0.1", port=int(made["port"]))
    elif not address.is_tls and not address.is_here:
        echo_line(f"warning: {address} is not encrypted: others in the network can read along")
    secure = "&secure=1" if address.is_tls else ""
    link = f"{address}{_PAGE}login?code={made['code']}{secure}"
    if not no_open and _opened(link):
        echo_line(f"the dashboard is open in your browser: {address}{_PAGE}")
        return
    echo(link + "\n")
    if not no_open:
        echo_line("no browser could be opened here; open this link in one, within two minutes")
        if is_local and os.environ.get("SSH_CONNECTION"):
            forward = f"{address.port}:127.0.0.1:{address.port}"
            echo_line(f"on your own machine, first run: ssh -N -L {forward} HOST")


def _opened(link: str) -> bool:
    """Open a browser with a window of its own; False if there is none to be seen."""
    is_seen = sys.platform == "darwin" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
    if not is_seen:
        return False
    import webbrowser  # noqa: PLC0415 - rarely needed, and slow to import

    return webbrowser.open(link)
