"""The backend of SSH hosts: jobs on pools that a person has named, and on single hosts."""

from trainway.backends.base import BackendSettings
from trainway.backends.pool.backend import PoolBackend
from trainway.backends.ssh.sites import ConfiguredPools


class SshBackend(PoolBackend):
    """Jobs on pools of `config.yaml`, and on hosts of `~/.ssh/config`."""

    def __init__(self, settings: BackendSettings) -> None:
        super().__init__(settings, ConfiguredPools(settings.home))
