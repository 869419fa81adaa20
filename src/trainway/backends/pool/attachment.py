"""How a command gets beside the processes of a pod on a host: through ssh, then into the pod. Pure.

The process's own environment, folder and mounts are taken over there by a few lines of Python that
go along; its id alone would not do, since it may be another process's by then.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trainway.agent.transfer.ssh_command import in_sh, shell_path
from trainway.backends.agents.attachment import JOIN
from trainway.backends.agents.attachment import attachment as local_attachment
from trainway.backends.login.login_fields import PYTHON
from trainway.backends.login.ssh_process import PROGRAM
from trainway.errors import ConflictError
from trainway.json_types import Json


def attachment(
    handle: Mapping[str, Any],
    records: Sequence[Mapping[str, Any]],
    hosts: Iterable[Json],
    role: str | None = None,
    rank: int | None = None,
) -> Json:
    """The pod of that role and rank, or the first one, and the command that leads to it."""
    place = local_attachment(handle, records, role, rank)
    name = _host_name(records, place["pod"])
    host = next((host for host in hosts if host["name"] == name), None)
    if host is None:
        raise ConflictError(f"host {name or '?'} is not in the pool any more")
    if "command" in host:
        return {**place, "host": name}  # it is this machine
    processes = place.pop("processes")
    python = shell_path(host.get("python") or PYTHON)
    remote = {
        container: f"{python} {shlex.join(['-c', JOIN, str(handle['id']), str(process)])}"
        for container, process in processes.items()
    }
    if host.get("step"):
        remote = {container: in_sh(f"{host['step']} {line}") for container, line in remote.items()}
    program = host.get("program") or _ssh(host)
    return {**place, "host": name, "program": program, "remote": remote}


def _ssh(host: Json) -> list[str]:
    """What logs in to a host."""
    identity = ["-i", host["identity"]] if host.get("identity") else []
    port = ["-p", str(host["port"])] if host.get("port") else []
    return [PROGRAM, *(host.get("options") or ()), *identity, *port, host["destination"]]


def _host_name(records: Iterable[Mapping[str, Any]], pod: str) -> str:
    """Where the last placement put the pod."""
    found = ""
    for record in records:
        if record.get("type") == "placement":
            found = str((record.get("hosts") or {}).get(pod) or "")
    return found
