"""Elastic gangs in the queue of a pool: they start with what fits, and get the rest when they can.

What a gang lacks is asked for pod by pod, each an entry of the same queue, with the priority and
the order of its gang. An entry that does not fit holds back nobody: its gang runs already. Pure.
"""

from __future__ import annotations

from trainway.agent.pool.placement import place
from trainway.agent.pool.replacement import place_again

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from trainway.agent.base.plan import Role
    from trainway.agent.pool.placement import Placement, Room
    from trainway.json_types import Json


def minimums(roles: Sequence[Role]) -> dict[str, int]:
    """With how many pods each elastic role of a job goes on."""
    return {role.name: role.job.minimum for role in roles if role.job.minimum is not None}


def role_of(pod: str) -> str:
    """The role of a pod, by its key."""
    return pod.rsplit("-", 2)[0]


def smaller(demand: Sequence[Json], least: Mapping[str, int]) -> list[list[Json]]:
    """What a gang may do with instead, the largest first: the last of its pods are left out."""
    found: list[list[Json]] = []
    left = list(demand)
    while True:
        counts: dict[str, int] = {}
        for item in left:
            name = role_of(str(item["pod"]))
            counts[name] = counts.get(name, 0) + 1
        spare = [
            item
            for item in left
            if counts[role_of(str(item["pod"]))] > least.get(role_of(str(item["pod"])), len(demand))
        ]
        if not spare:
            return found
        last = max(spare, key=lambda item: int(str(item["pod"]).rsplit("-", 1)[1]))
        left = [item for item in left if item is not last]
        found.append(left)


def limited(demand: Sequence[Json], least: Mapping[str, int], most: int) -> list[Json]:
    """What a gang asks for that may have so many nodes at most: the last ones are left out."""
    found = []
    for item in demand:
        name, _, index = str(item["pod"]).rpartition("-")
        role = name.rpartition("-")[0]
        if role not in least or int(index) < max(most, least[role]):
            found.append(item)
    return found


def place_some(entry: Any, rooms: Sequence[Room], taken: Collection[str] = ()) -> Placement | None:
    """A place for as many pods of an entry as fit, if those are enough; not on what is `taken`."""
    avoided: Collection[str] = getattr(entry, "avoided", ())
    former: Mapping[str, str] = getattr(entry, "former", {})
    usable = [room for room in rooms if room.name not in avoided and room.name not in taken]
    for demand in (entry.demand, *getattr(entry, "smaller_demands", ())):
        found = (place_again(demand, usable, former) if former else None) or place(demand, usable)
        if found is not None:
            return found
    return None


class Growth:
    """A pod that an elastic gang lacks."""

    is_new = False
    smaller_demands: Sequence[Sequence[Json]] = ()

    def __init__(self, gang: Any, item: Json) -> None:
        self._gang = gang
        self.pod = str(item["pod"])
        self.id = f"{gang.id}+{self.pod}"
        self.demand = [item]
        self.priority: int = gang.priority
        self.order: int = gang.order
        self.oversubscribe: bool = gang.oversubscribe
        self.title: str = gang.title

    @property
    def apart(self) -> tuple[str, str] | None:
        """What the pods have in common that must not share a host with it; None: any may."""
        word = self.demand[0].get("apart")
        return (str(self._gang.id), str(word)) if word else None

    @property
    def avoided(self) -> set[str]:
        """The hosts of pods that must not share one with it."""
        word, placement = self.demand[0].get("apart"), self._gang.placement
        if not word or placement is None:
            return set()
        others = {str(item["pod"]) for item in self._gang.demand if item.get("apart") == word}
        return {host for pod, host in placement.hosts.items() if pod in others}

    @property
    def wants_place(self) -> bool:
        """Whether its gang still lacks it."""
        return any(str(item["pod"]) == self.pod for item in self._gang.lacking())

    def place(self, placement: Placement) -> None:
        """Its gang may have it there."""
        self._gang.grow(placement)

    def waiting(self, reason: str, message: str, position: int) -> None:
        """Nobody is told: its gang runs."""

    def displaced(self, message: str) -> None:
        """It has been its gang's for long."""

    def fail(self, message: str) -> None:
        """An error of ours ends its gang."""
        self._gang.fail(message)


def is_growth(entry: Any) -> bool:
    """Whether somebody who runs already asks for more."""
    return isinstance(entry, Growth)
