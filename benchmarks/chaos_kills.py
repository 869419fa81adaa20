"""The ways in which `benchmarks/chaos.py` breaks things, each with what mends it.

A way that finds nothing to break says so, and another one is tried. What a way has broken for a
while is mended by the function that it gives.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from host_processes import HostProcess
from installation import kill
from ssh_pool import host_agents

from benchmarks.chaos_site import Site
from ssh_hosts import Host

Mend = Callable[[], None]
LONGEST_S = 12.0
"""For how long a host is off or cut off: longer than it takes until its jobs start elsewhere."""

MOST_OF_A_JOB = 4
"""How many ranks of one job are killed."""
MOST_DRIVERS = 2
"""How many drivers of one job are killed; a job that loses more than three fails."""


@dataclass(frozen=True)
class Broken:
    """What was done, and what undoes it after some seconds, if anything has to."""

    what: str
    mend: Mend | None = None
    after_s: float = 0.0


def server(site: Site, dice: random.Random) -> Broken:
    """The server; whoever asks next starts another one."""
    del dice
    kill(site.home.server_pid())
    return Broken("server")


def rank(site: Site, dice: random.Random) -> Broken | None:
    """A process of a job, wherever it runs; none has to bear it again and again.

    Pauses before the next attempt grow to a minute, and Slurm holds what was requeued too often.
    """
    found = [each for each in site.ranks() if site.kills[each.job] < MOST_OF_A_JOB]
    if not found:
        return None
    chosen = dice.choice(found)
    site.kills[chosen.job] += 1
    chosen.kill()
    return Broken("rank")


def local_agent(site: Site, dice: random.Random) -> Broken | None:
    """What watches a job on this machine."""
    jobs = str(site.home.home / "jobs")
    agents = [each for each in site.processes() if _is_agent(each, jobs)]
    return _one_of(agents, dice, "agent of a job")


def slurm_driver(site: Site, dice: random.Random) -> Broken | None:
    """What runs a job in its allocation."""
    found = [each for each in site.drivers() if site.driver_kills[each.job] < MOST_DRIVERS]
    if not found:
        return None
    chosen = dice.choice(found)
    site.driver_kills[chosen.job] += 1
    chosen.kill()
    return Broken("driver of Slurm")


def pool_agent(site: Site, dice: random.Random) -> Broken | None:
    """What places jobs on SSH hosts."""
    pools = str(site.home.home / "pools")
    agents = [each for each in site.processes() if _is_agent(each, pools)]
    return _one_of(agents, dice, "agent of the pool")


def host_agent(site: Site, dice: random.Random) -> Broken | None:
    """What runs pods on an SSH host."""
    agents = [each for host in site.hosts.hosts if host.is_on for each in host_agents(host)]
    return _one_of(agents, dice, "agent of a host")


def host(site: Site, dice: random.Random) -> Broken | None:
    """An SSH host loses its power."""
    if (chosen := _whole_host(site, dice)) is None:
        return None
    chosen.halt()
    return Broken("host", chosen.boot, dice.uniform(1, LONGEST_S))


def cable(site: Site, dice: random.Random) -> Broken | None:
    """An SSH host is cut off, and what runs there goes on for a while."""
    if (chosen := _whole_host(site, dice)) is None:
        return None
    chosen.cut()
    site.cut_off.add(chosen.name)

    def mend() -> None:
        chosen.heal()
        site.cut_off.discard(chosen.name)

    return Broken("cable", mend, dice.uniform(1, LONGEST_S))


def slurm_node(site: Site, dice: random.Random) -> Broken | None:
    """A node of Slurm loses its power; its administrator starts it again."""
    slurm = site.slurm
    if not all(node.is_on for node in slurm.nodes):
        return None
    index = dice.randrange(len(slurm.nodes))
    slurm.kill_node(index)

    def mend() -> None:
        slurm.start_node(index)
        slurm.attempt("scontrol", "update", f"NodeName={slurm[index].name}", "State=RESUME")

    return Broken("node of Slurm", mend, dice.uniform(6, LONGEST_S))


WAYS: Sequence[tuple[int, Callable[[Site, random.Random], Broken | None]]] = (
    (50, rank),
    (5, slurm_driver),
    (12, server),
    (10, local_agent),
    (6, pool_agent),
    (8, host_agent),
    (3, host),
    (3, cable),
    (3, slurm_node),
)
"""With how often each is taken in a hundred."""


def broken(site: Site, dice: random.Random) -> Broken:
    """Break something; a server is always there to be killed."""
    weights, ways = [weight for weight, _ in WAYS], [way for _, way in WAYS]
    (way,) = dice.choices(ways, weights)
    return way(site, dice) or rank(site, dice) or server(site, dice)


def _one_of(found: Sequence[HostProcess], dice: random.Random, what: str) -> Broken | None:
    if not found:
        return None
    dice.choice(found).kill()
    return Broken(what)


def _is_agent(process: HostProcess, folder: str) -> bool:
    return any(word.startswith(folder) for word in process.words) and not process.job


def _whole_host(site: Site, dice: random.Random) -> Host | None:
    """One of the hosts, if all are well: a majority of them must reach each other."""
    hosts = site.hosts.hosts
    are_well = all(each.is_on for each in hosts) and not site.cut_off
    return dice.choice(hosts) if are_well else None
