"""The backend of SSH hosts: jobs on pools that a person has named, and on single hosts."""

from typing import Final

from trainway.backends.base import BackendSettings
from trainway.backends.nodes import Drain
from trainway.backends.pool.backend import PoolBackend
from trainway.backends.pool.leaving import LeavesHosts
from trainway.backends.ssh.holder import SshHolder
from trainway.backends.ssh.sites import ConfiguredPools
from trainway.errors import NotFoundError


class SshBackend(LeavesHosts, PoolBackend):
    """Jobs on pools of `config.yaml`, and on hosts of `~/.ssh/config`."""

    has_own_nodes: Final = True
    """What we set aside, others can still use: it is the pool agent that places nothing there."""

    begins_smaller: Final = True

    def __init__(self, settings: BackendSettings) -> None:
        self._pools = ConfiguredPools(settings.home)
        super().__init__(settings, self._pools)

    def holder(self) -> SshHolder:
        """Who holds parts of pools."""
        return SshHolder(self._pools)

    async def drain(self, node: str, drain: Drain) -> None:
        """Have the agent of the pool place no new pods on a host; it writes that down."""
        until = None if drain.until is None else drain.until.timestamp()
        await self._set_drained(node, why=drain.why, by=drain.by, until=until)

    async def undrain(self, node: str) -> None:
        """Have it place pods there again."""
        await self._set_drained(node, why="")

    async def _set_drained(self, node: str, **terms: str | float | None) -> None:
        hosts = [str(host["name"]) for host in await self._hosts()]
        if node not in hosts:
            raise NotFoundError(
                f"{self.name} has no host {node}", hint=f"its hosts are {', '.join(hosts)}"
            )
        agent = self.agent(self._sites.find(self._target).pool)
        await self._configure(agent)
        await agent.ask("drain", host=node, **terms)
