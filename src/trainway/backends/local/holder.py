"""Clusters on this machine: shares of one host, whose agent is reached without SSH."""

from pathlib import Path
from typing import Final

from trainway.agent.base import launch
from trainway.backends.agents.certificate import LOOPBACK
from trainway.backends.agents.loopback_network import LoopbackNetwork
from trainway.backends.base import Capacity
from trainway.backends.local.capacity import Machine
from trainway.backends.login.login_fields import COPY
from trainway.compiler.network import JobIdentity, Network
from trainway.families.builtin import HERE
from trainway.json_types import Json

LOCAL_POOL: Final = "local-clusters"
"""The pool of the clusters of this machine; a pool of hosts cannot be called so."""
HOST: Final = "this"


class LocalHolder:
    """Holds shares of this machine."""

    def __init__(self, home: Path, machine: Machine) -> None:
        self._home = home
        self._machine = machine

    def infra(self, region: str | None, zone: str | None) -> str:  # noqa: ARG002 - there is one
        """The one machine that there is."""
        return HERE

    def pool(self, infra: str, cluster: str) -> str:  # noqa: ARG002 - as above
        """One agent for all of them."""
        return LOCAL_POOL

    def hosts(self, infra: str) -> list[Json]:  # noqa: ARG002 - as above
        """The machine, as a host without SSH."""
        return [local_host(self._home, self._machine.capacity())]

    def outputs(self, infra: str) -> str:  # noqa: ARG002 - as above
        """They are here already, and are kept with the job."""
        return COPY

    def order(self, infra: str, cluster: Json) -> Json:  # noqa: ARG002 - as above
        """As it is."""
        return cluster

    def network(self, job: JobIdentity, port: int) -> Network:
        """The loopback address, as for any job of this machine."""
        return LoopbackNetwork(job, port)


def local_host(home: Path, capacity: Capacity) -> Json:
    """The machine that we are on, whose agent is reached without SSH."""
    folder = home / "pools" / LOCAL_POOL / HOST
    return {
        "name": HOST,
        "destination": HOST,
        "address": LOOPBACK,
        "command": launch.host_command(str(folder)),
        "cpus": capacity.cpus.nanos / 10**9,
        "memory": capacity.memory.ceil(),
        "gpus": list(capacity.gpus),
    }
