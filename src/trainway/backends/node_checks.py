"""Backends that check the nodes of a job before it starts: what their configuration says of it."""

from typing import Protocol, runtime_checkable

from trainway.backends.base import Backend


@runtime_checkable
class ChecksNodes(Protocol):
    """Can check the nodes of a job before it starts."""

    def usual_health_check(self) -> str:
        """What becomes of a job that does not say whether they are, as its annotation would."""
        ...


def usual_health_check(backend: Backend) -> str:
    """What is usual there; nothing where nodes cannot be checked."""
    return backend.usual_health_check() if isinstance(backend, ChecksNodes) else ""
