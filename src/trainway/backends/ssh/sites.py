"""Which pool agent a name means, and with which hosts.

`ssh/POOL` is a pool of `config.yaml`, `ssh/HOST` a single host that `~/.ssh/config` names, and
`ssh` alone the one pool that there is.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from trainway.backends import configuration
from trainway.backends.login.client_config import named_hosts
from trainway.backends.pool.site import Site
from trainway.backends.ssh.host_lookup import Lookup
from trainway.backends.ssh.section import Host, HostPool, pools_of
from trainway.errors import NotFoundError, UsageError
from trainway.json_types import Json
from trainway.schema.validation import closest

FAMILY: Final = "ssh"


class ConfiguredPools:
    """The pools of `config.yaml`, and hosts of the SSH client's configuration."""

    family = FAMILY

    def __init__(
        self, home: Path, lookup: Lookup | None = None, user_home: Path | None = None
    ) -> None:
        self._home = home
        self._lookup = lookup or Lookup()
        self._user_home = user_home or Path.home()

    def names(self) -> list[str]:
        """The pools."""
        return list(self._pools())

    def find(self, target: str) -> Site:
        """A pool, or a host as a pool of its own."""
        pool = self._pool(target)
        return Site(pool.name, pool.name, outputs=pool.outputs)

    def hosts(self, target: str) -> list[Json]:
        """What is configured, and what ssh knows."""
        return [self._lookup.described(host) for host in self._pool(target).hosts]

    def _pool(self, target: str) -> HostPool:
        pools = self._pools()
        if not target:
            return _only(pools.values())
        if target in pools:
            return pools[target]
        hosts = named_hosts(self._user_home / ".ssh" / "config", self._user_home)
        if target in hosts:
            return HostPool(target, (Host(target, target),))
        raise _unknown(target, list(pools), hosts, self._home)

    def _pools(self) -> dict[str, HostPool]:
        section = configuration.read(self._home).get("pools") or {}
        return pools_of(section, str(self._user_home))


def _only(pools: Iterable[HostPool]) -> HostPool:
    found = list(pools)
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(
            "no pool of hosts is configured",
            hint="name a host of ~/.ssh/config (--on ssh/HOST), or write pools into "
            f"~/.trainway/config.yaml: {_example('lab')}",
        )
    names = ", ".join(f"{FAMILY}/{pool.name}" for pool in found)
    raise UsageError(f"there are {len(found)} pools of hosts", hint=f"name one: {names}")


def _example(pool: str) -> str:
    return f"pools: {{{pool}: {{hosts: [a1, a2]}}}}"


def _unknown(target: str, pools: Sequence[str], hosts: Sequence[str], home: Path) -> NotFoundError:
    meant = closest(target, [*pools, *hosts])
    known = ", ".join(f"{FAMILY}/{name}" for name in pools)
    return NotFoundError(
        f"there is no pool {target!r} in {home / configuration.FILE}, and no host of that name in "
        "~/.ssh/config" + (f'; did you mean "{meant}"?' if meant else ""),
        field="options.backend",
        hint=f"pools: {known}" if known else f"name its hosts there: {_example(target)}",
    )
