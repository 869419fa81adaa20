"""Clusters on SSH hosts: the agent of the pool keeps them beside the pool's own jobs."""

from trainway.backends.pool.network import PoolNetwork
from trainway.backends.pool.site import Site
from trainway.backends.ssh.sites import FAMILY, ConfiguredPools
from trainway.compiler.network import JobIdentity, Network
from trainway.json_types import Json


class SshHolder:
    """Holds parts of pools."""

    def __init__(self, pools: ConfiguredPools) -> None:
        self._pools = pools

    def infra(self, region: str | None, zone: str | None) -> str:  # noqa: ARG002 - pools have none
        """The pool of that name, or the only one."""
        return f"{FAMILY}/{self._pools.find(region or '').pool}"

    def pool(self, infra: str, cluster: str) -> str:  # noqa: ARG002 - all of a pool have one
        """That of the hosts."""
        return self._site(infra).pool

    def hosts(self, infra: str) -> list[Json]:
        """What is configured, and what ssh knows."""
        return self._pools.hosts(_target(infra))

    def outputs(self, infra: str) -> str:
        """As is configured for the pool."""
        return self._site(infra).outputs

    def order(self, infra: str, cluster: Json) -> Json:  # noqa: ARG002 - the same for every pool
        """As it is."""
        return cluster

    def network(self, job: JobIdentity, port: int) -> Network:
        """The names of pods."""
        return PoolNetwork(job, port=port)

    def _site(self, infra: str) -> Site:
        return self._pools.find(_target(infra))


def _target(infra: str) -> str:
    return infra.partition("/")[2]
