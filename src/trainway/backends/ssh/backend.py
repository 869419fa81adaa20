"""The backend of SSH hosts: jobs on pools that a person has named, and on single hosts."""

from trainway.backends.base import BackendSettings
from trainway.backends.pool.backend import PoolBackend
from trainway.backends.ssh.holder import SshHolder
from trainway.backends.ssh.sites import ConfiguredPools


class SshBackend(PoolBackend):
    """Jobs on pools of `config.yaml`, and on hosts of `~/.ssh/config`."""

    def __init__(self, settings: BackendSettings) -> None:
        self._pools = ConfiguredPools(settings.home)
        super().__init__(settings, self._pools)

    def holder(self) -> SshHolder:
        """Who holds parts of pools."""
        return SshHolder(self._pools)
