"""`trainway jobs port-forward`: ports of a pod on this machine."""

import click

from trainway.cli.attach import become
from trainway.cli.connection import connect
from trainway.cli.job_options import job_argument
from trainway.cli.pod_options import pod_options
from trainway.errors import ConflictError


@click.command("port-forward")
@job_argument
@pod_options
@click.argument("ports", metavar="[LOCAL:]REMOTE...", nargs=-1, required=True)
def port_forward(ref: str, role: str | None, rank: int | None, ports: tuple[str, ...]) -> None:
    """Make ports of a pod reachable on this machine, until Ctrl-C.

    Without --role and --rank it is the launcher, or the first node. `:6006` takes any local port.
    """
    place = connect().pod(ref, role, rank, "port-forward")
    if place.get("processes"):
        raise ConflictError(
            f"{ref} runs on this machine, so its ports are reachable already",
            hint="connect to localhost",
        )
    if place.get("remote"):
        login = " ".join([*place["program"], "-N", "-L", "PORT:localhost:PORT"])
        raise ConflictError(
            f"{ref} runs on host {place['host']}", hint=f"forward the port with ssh: {login}"
        )
    become("port-forward", place, [], ports)
