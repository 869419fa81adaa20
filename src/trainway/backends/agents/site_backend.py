"""What backends have in common whose jobs are on other machines: sites that a user has named.

`ssh/lab`, `slurm/hpc` and `cluster/dev` are sites. Whatever is to be done with a job there is said
to someone of this machine who passes it on: the agent of a pool, the relay of a cluster.
"""

import logging
from abc import abstractmethod
from typing import Any, Protocol

from trainway.backends.agents.agent_backend import AgentBackend, Clock, Wanted
from trainway.backends.agents.ports import Ports
from trainway.backends.base import BackendSettings, Handle
from trainway.errors import TrainwayError, UnavailableError
from trainway.json_types import Json

log = logging.getLogger(__name__)


class SiteNames(Protocol):
    """The names of one family."""

    @property
    def family(self) -> str:
        """What they begin with."""
        ...

    def names(self) -> list[str]:
        """Those that can be listed, without the family."""
        ...


class SiteAgent(Protocol):
    """Has things done at a site."""

    async def ask(self, operation: str, **fields: Any) -> Json:
        """Have something done and wait until it is; UnavailableError: nobody answers."""
        ...


class SiteBackend(AgentBackend[Wanted]):
    """Hands each job to whoever queues and places the jobs of its site."""

    schedules = True

    def __init__(
        self, settings: BackendSettings, names: SiteNames, ports: Ports, clock: Clock
    ) -> None:
        super().__init__(settings.home, ports, clock)
        self._target = settings.target
        self._names = names

    @abstractmethod
    def _agent(self, handle: Handle) -> SiteAgent:
        """Who passes on what is to be done with a job."""

    @property
    def name(self) -> str:
        """`FAMILY/SITE`, as far as it was given."""
        return f"{self._names.family}/{self._target}".rstrip("/")

    def places(self) -> list[str]:
        """One for each site; the family's name where the configuration cannot be read."""
        try:
            return [f"{self._names.family}/{name}" for name in self._names.names()]
        except TrainwayError:
            return [self._names.family]

    def has_lost_network(self, handle: Handle) -> bool:  # noqa: ARG002 - sites are not asked
        """Never."""
        return False

    async def suspend(self, handle: Handle) -> None:
        """Stop the pods."""
        await self._agent(handle).ask("suspend", id=handle["id"])

    async def resume(self, handle: Handle) -> None:
        """Start the pods again."""
        await self._agent(handle).ask("resume", id=handle["id"])

    async def delete(self, handle: Handle) -> None:
        """Remove what the job left there and here."""
        try:
            await self._agent(handle).ask("forget", id=handle["id"])
        except UnavailableError as error:
            log.warning("job %s may have left something behind: %s", handle["id"], error)
        await self._discard(handle)
