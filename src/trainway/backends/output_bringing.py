"""The capability to have the output of a job here though it is written elsewhere, if asked for."""

from typing import Protocol, runtime_checkable

from trainway.backends.base import Handle


@runtime_checkable
class BringsOutput(Protocol):
    """Runs jobs whose output is gone with them, unless they said before that it is wanted."""

    def why_not_brought(self, handle: Handle) -> str:
        """Why the output of a job will not be here at its end; empty: it will."""
        ...

    async def bring(self, handle: Handle) -> None:
        """Make the output that is here what the job has written by now, as far as it runs."""
        ...
