"""The relays of one server: one for each cluster, which all its backends share."""

import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Final, Protocol

from trainway.backends.agents.agent_backend import now
from trainway.backends.agents.site_backend import SiteAgent
from trainway.backends.avoided_nodes import AvoidedNodes
from trainway.backends.base import Update
from trainway.backends.login.login_environment import login_environment
from trainway.backends.slurm.login_retention import LoginRetention, rules
from trainway.backends.slurm.relay_client import RelayClient
from trainway.backends.slurm.sites import FAMILY
from trainway.json_types import Json


class Relay(SiteAgent, Protocol):
    """Speaks for us on the login node of a cluster."""

    def describe(self, cluster: Json) -> None:
        """Take note of how the cluster is configured now."""
        ...

    def watch(self, job_id: str, journal: Path, after: int) -> AsyncIterator[Update]:
        """What becomes of a job."""
        ...

    async def close(self) -> None:
        """Let go of the login node."""
        ...


class Relays:
    """The relays of one server, one for each cluster, whichever partitions are used."""

    def __init__(self, make: Callable[[Json], Relay]) -> None:
        self._make = make
        self._made: dict[tuple[str, ...], Relay] = {}

    def of(self, cluster: Json) -> Relay:
        """The relay of a cluster."""
        key = tuple(str(cluster[name]) for name in ("name", "login", "home"))
        if key not in self._made:
            self._made[key] = self._make(cluster)
        return self._made[key]

    async def close(self) -> None:
        """End them all."""
        made, self._made = list(self._made.values()), {}
        for relay in made:
            await relay.close()


_SHARED: Final[dict[Path, Relays]] = {}


def relays_of(home: Path) -> Relays:
    """Those of a server: all backends of the family share them."""
    if home not in _SHARED:
        _SHARED[home] = Relays(partial(_client, home))
    return _SHARED[home]


def _client(home: Path, cluster: Json) -> RelayClient:
    name = str(cluster["name"])
    retention = LoginRetention(home / "jobs", name, partial(rules, home), time.time)
    avoided = AvoidedNodes(home, f"{FAMILY}/{name}", now).names
    return RelayClient(cluster, home / FAMILY / name, login_environment(home), retention, avoided)
