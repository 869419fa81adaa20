"""Which jobs run on this machine, with all files that are here: some clusters are shares of it."""

from typing import Protocol, runtime_checkable

from trainway.backends.base import Backend
from trainway.families.family import Files
from trainway.families.table import family_of


@runtime_checkable
class MayShareHost(Protocol):
    """Has places here and elsewhere."""

    def shares_host(self) -> bool:
        """Whether this one is here."""
        ...


def shares_host(backend: Backend) -> bool:
    """Whether the jobs of a backend see the files of this machine at their own paths."""
    if family_of(backend.name).files is Files.HERE:
        return True
    return isinstance(backend, MayShareHost) and backend.shares_host()
