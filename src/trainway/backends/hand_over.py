"""Jobs that go from one backend to another without an end: a capability like those beside it."""

from typing import Protocol, runtime_checkable

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


def handing_over(backend: Backend) -> HandsOver:
    """The backend, which must be able to hand jobs over."""
    if not isinstance(backend, HandsOver):
        raise ConflictError(
            f"{backend.name} cannot hand over a job that has started, or go on with one",
            hint="docs/moving.md says which places can",
        )
    return backend
