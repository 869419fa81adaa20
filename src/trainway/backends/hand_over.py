"""Jobs that go from one backend to another without an end: a capability like those beside it."""

from typing import Final, Protocol, runtime_checkable

from trainway.backends.base import Backend, Handle
from trainway.errors import ConflictError


@runtime_checkable
class HandsOver(Protocol):
    """Can let go of a suspended job, and go on with one that another backend has let go of.

    What goes from one to the other is the directory of the job: its journal, logs and output.
    """

    def why_stays(self, handle: Handle) -> str:
        """Why a job cannot leave, as the end of a sentence; empty: it can."""
        ...

    async def leave(self, handle: Handle) -> None:
        """Let go of a suspended job; when this returns nothing of it runs. It may be asked twice.

        Raises ConflictError where the job has ended.
        """
        ...


@runtime_checkable
class Packs(Protocol):
    """Loses what a job has written when it is suspended, unless it is told before."""

    async def pack(self, handle: Handle) -> None:
        """Make sure that nothing is lost of a job that is suspended next. It may be asked twice.

        Raises ConflictError where that is not possible.
        """
        ...


_PLACES: Final = (
    "jobs that have started move between this machine, SSH hosts, Slurm, Kubernetes, clouds and "
    "worker pools"
)


def handing_over(backend: Backend) -> HandsOver:
    """The backend, which must be able to let go of a job that has started."""
    if not isinstance(backend, HandsOver):
        raise ConflictError(
            f"a job that has started cannot leave {backend.name}: what it has written stays there",
            hint=f"{_PLACES}; cancel it and submit it elsewhere as a new job",
        )
    return backend


def check_goes_on(backend: Backend) -> None:
    """Raise that a backend cannot go on with a job that another one has let go of."""
    if not isinstance(backend, HandsOver):
        raise ConflictError(
            f"{backend.name} cannot go on with a job that has started elsewhere",
            hint=f"{_PLACES}; submit it to {backend.name} as a new job",
        )
