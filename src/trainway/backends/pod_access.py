"""How a person gets to a pod of a job: capabilities, one for each verb.

A backend declares each of them by itself. What it answers is a place: the pod, its containers, and
the way there, be it a process of this machine, a program that logs in, or a kubeconfig.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, Protocol, runtime_checkable

from trainway.backends.base import Backend, Handle
from trainway.errors import ConflictError
from trainway.json_types import Json


class Verb(StrEnum):
    """What a person wants there, as `trainway jobs VERB` has it."""

    EXEC = "exec"
    SHELL = "shell"
    PORT_FORWARD = "port-forward"


@runtime_checkable
class Executes(Protocol):
    """Can run a command in a pod."""

    async def exec_place(self, handle: Handle, role: str | None, rank: int | None) -> Json:
        """Where the command goes: into the first pod where none is named."""
        ...


@runtime_checkable
class OpensShells(Protocol):
    """Can open a shell in a pod."""

    async def shell_place(self, handle: Handle, role: str | None, rank: int | None) -> Json:
        """Where the shell goes: into the first pod where none is named."""
        ...


@runtime_checkable
class ForwardsPorts(Protocol):
    """Knows how ports of a pod are reached."""

    async def port_place(self, handle: Handle, role: str | None, rank: int | None) -> Json:
        """Where the ports are: of the first pod where none is named."""
        ...


_CAPABILITIES: Final[Mapping[Verb, type]] = {
    Verb.EXEC: Executes,
    Verb.SHELL: OpensShells,
    Verb.PORT_FORWARD: ForwardsPorts,
}


def verbs(backend: Backend) -> list[Verb]:
    """Those that a backend has."""
    return [verb for verb, capability in _CAPABILITIES.items() if isinstance(backend, capability)]


async def place(
    backend: Backend, verb: Verb, handle: Handle, role: str | None, rank: int | None
) -> Json:
    """Where a pod is, for that verb; raises that the backend does not have it."""
    if verb is Verb.EXEC and isinstance(backend, Executes):
        return await backend.exec_place(handle, role, rank)
    if verb is Verb.SHELL and isinstance(backend, OpensShells):
        return await backend.shell_place(handle, role, rank)
    if verb is Verb.PORT_FORWARD and isinstance(backend, ForwardsPorts):
        return await backend.port_place(handle, role, rank)
    others = ", ".join(f"trainway jobs {other}" for other in verbs(backend))
    raise ConflictError(
        f"the backend {backend.name} does not support trainway jobs {verb}",
        hint=f"it supports {others}" if others else "trainway jobs logs shows what the job writes",
    )


@runtime_checkable
class ReachesPods(Protocol):
    """Knows where all pods of a job are."""

    async def pod_places(self, handle: Handle) -> list[Json]:
        """The places of all pods that run, with `role`, `replica` and `rank` of each."""
        ...


async def pod_places(backend: Backend, handle: Handle) -> list[Json]:
    """Where the running pods of a job are; raises that the backend does not know."""
    if isinstance(backend, ReachesPods):
        return await backend.pod_places(handle)
    raise ConflictError(
        f"the backend {backend.name} cannot look into the processes of a job",
        hint="trainway jobs logs shows what the job writes",
    )


@runtime_checkable
class WatchesLogs(Protocol):
    """Knows how much the pods of a job write."""

    async def log_sizes(self, handle: Handle) -> dict[str, int]:
        """The bytes of each log of a job; raises UnavailableError where they cannot be read."""
        ...

    async def log_gap(self, handle: Handle) -> str:
        """Why the logs do not show all that is written; empty: they do."""
        ...


@runtime_checkable
class EndsPods(Protocol):
    """Has a way of its own to end a pod so that it has failed."""

    async def end_pod(self, handle: Handle, place: Json) -> None:
        """End the pod at one of `pod_places`, unless another has come in its place."""
        ...
