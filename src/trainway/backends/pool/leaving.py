"""Jobs that leave hosts for another place, with what they have written: `HandsOver` for pools."""

from typing import Protocol

from trainway.backends.agents.jobdir import JobDir
from trainway.backends.agents.site_backend import SiteAgent
from trainway.backends.base import Handle


class _Leavable(Protocol):
    """The backend of a pool, as far as it is needed."""

    def _agent(self, handle: Handle) -> SiteAgent: ...

    def job_dir(self, handle: Handle) -> JobDir: ...

    async def _retire(self, job: JobDir) -> None: ...


class LeavesHosts:
    """Lets go of jobs that its agent has suspended, once their output is here."""

    def why_stays(self, handle: Handle) -> str:
        """Output that is not copied stays on the hosts."""
        keeps = handle.get("outputs") == "keep"
        return "its output stays on the hosts (outputs: keep)" if keeps else ""

    async def leave(self: _Leavable, handle: Handle) -> None:
        """Have the pool agent forget the job, once its pods have ended and their output is here."""
        await self._agent(handle).ask("leave", id=handle["id"])
        await self._retire(self.job_dir(handle))
