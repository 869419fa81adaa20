"""The capability to make the claims of disks that volumes stand for, and to remove them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from trainway.backends.base import Backend
from trainway.errors import UsageError


@dataclass(frozen=True)
class Claim:
    """A disk that a volume asks for."""

    name: str
    size: str
    """How large it is, as Kubernetes writes it."""
    access_mode: str
    namespace: str = ""
    """Empty: that of the place."""
    storage_class: str = ""
    """Empty: the usual one of the cluster."""
    labels: Mapping[str, str] = field(default_factory=dict)


@runtime_checkable
class MakesClaims(Protocol):
    """Has disks for those who ask."""

    async def make_claim(self, claim: Claim) -> None:
        """Make it, or make it larger; one that is there as it should be stays.

        Raises ConflictError where somebody else has made one of its name.
        """
        ...

    async def remove_claim(self, claim: Claim) -> None:
        """Remove it with everything in it, if it was made here. It may be asked twice."""
        ...


def claiming(backend: Backend) -> MakesClaims:
    """The backend, which must have disks."""
    if not isinstance(backend, MakesClaims):
        raise UsageError(f"{backend.name} makes no claims", field="infra")
    return backend
