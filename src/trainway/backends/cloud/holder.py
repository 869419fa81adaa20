"""Clusters on rented machines: a pool agent of its own keeps each, whose hosts they are.

Which machines these are is known when they are rented; the engine tells the agent then.
"""

from trainway.backends.login.login_fields import COPY
from trainway.backends.pool.network import PoolNetwork
from trainway.backends.pool.own_agents import pool_of
from trainway.compiler.network import JobIdentity, Network
from trainway.json_types import Json


class CloudHolder:
    """Holds rented machines."""

    def __init__(self, cloud: str) -> None:
        self._cloud = cloud

    def infra(self, region: str | None, zone: str | None) -> str:
        """The cloud, and as much of the place as was said; the optimizer finds the rest."""
        return "/".join(part for part in (self._cloud, region or (zone and "*"), zone) if part)

    def pool(self, infra: str, cluster: str) -> str:  # noqa: ARG002 - wherever it is
        """An agent for each cluster, or for all workers of a pool: nobody else has the machines."""
        return pool_of(cluster)

    def hosts(self, infra: str) -> list[Json]:  # noqa: ARG002 - as above
        """None yet."""
        return []

    def outputs(self, infra: str) -> str:  # noqa: ARG002 - as above
        """They come back, since the machines go."""
        return COPY

    def order(self, infra: str, cluster: Json) -> Json:  # noqa: ARG002 - as above
        """As it is."""
        return cluster

    def network(self, job: JobIdentity, port: int) -> Network:
        """The names of pods."""
        return PoolNetwork(job, port=port, cloud=self._cloud)
