"""Who holds how much of this host, whichever client asks: the host itself decides.

Every client counts for itself what its jobs take, and hears here what the others have. What is held
is on disk, so that the next daemon knows it. A holding lasts as long as its client is connected or
a pod of it runs; after that it ends by itself, a while later. What is held through the agents of
other users counts too: `shared_holdings` is how agents know of each other.
"""

from __future__ import annotations

import json
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from trainway.agent.base.directory import Directory
    from trainway.agent.host.shared_holdings import SharedHoldings
    from trainway.agent.transfer.frames import HoldLimits
    from trainway.agent.transfer.host_events import HeldByOther
    from trainway.json_types import Json


FILE = "holdings.json"
WHOLE = 1000
"""How many thousandths, in which CPUs and GPUs are counted, make a whole one."""
ABSENCE_SECONDS = 60.0
"""How long a job without pods keeps its place while its client is away."""
CLUSTER_ABSENCE_SECONDS = 3600.0
"""How long a cluster, which may well have no job, keeps its place while its client is away."""
CLUSTER = "cluster/"


class Holding:
    """What one job or cluster of a client has of this host."""

    def __init__(self, data: Json) -> None:
        self.key = str(data["key"])
        self.owner = str(data["owner"])
        self.client = str(data.get("client") or "")
        """The client, for people: user@machine."""
        self.name = str(data.get("name") or self.key)
        self.cpus = int(data.get("cpus") or 0)
        self.memory = int(data.get("memory") or 0)
        self.gpus = {str(name): int(share) for name, share in (data.get("gpus") or {}).items()}
        self.seen = 0.0
        """When somebody who needs it was last there."""

    def to_json(self) -> HeldByOther:
        """For the disk, and for other clients."""
        return {
            "key": self.key,
            "owner": self.owner,
            "client": self.client,
            "name": self.name,
            "cpus": self.cpus,
            "memory": self.memory,
            "gpus": self.gpus,
        }

    @property
    def is_cluster(self) -> bool:
        """Whether it is a cluster, whose jobs hold nothing for themselves."""
        return self.key.startswith(CLUSTER)

    @property
    def patience(self) -> float:
        """How long it lasts when nobody is there."""
        return CLUSTER_ABSENCE_SECONDS if self.is_cluster else ABSENCE_SECONDS


class Holdings:
    """All that is held here."""

    def __init__(
        self,
        home: Directory,
        now: Callable[[], float],
        shared: SharedHoldings | None = None,
        processes: Callable[[Holding], Sequence[int]] = lambda _holding: (),
    ) -> None:
        """`processes` tells which of them use what is held."""
        self._home = home
        self._now = now
        self._shared = shared
        self._processes = processes
        self._held: dict[tuple[str, str], Holding] = {}
        self._elsewhere: list[HeldByOther] = []
        """What is held through other agents of this machine."""
        self._load()
        self.publish()
        if shared is not None:
            shared.clear_away()
            self.look()

    def _load(self) -> None:
        try:
            found = [Holding(item) for item in json.loads(self._home.read(FILE))]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return  # nobody held anything, or nobody can tell
        for holding in found:
            holding.seen = self._now()
            self._held[holding.owner, holding.key] = holding

    def _save(self) -> None:
        data = [holding.to_json() for holding in self._held.values()]
        self._home.replace(FILE, json.dumps(data).encode(), durable=True)

    def hold(self, data: Json, limits: HoldLimits, *, insist: bool = False) -> str:
        """Give a place in place of the one it had; else say who has it.

        `limits` is what the client takes this host to have; `insist`: it takes more than there is.
        LockedError: another agent is just being given a place, so ask again soon.
        """
        wanted = Holding(data)
        own_key = (wanted.owner, wanted.key)
        had = self._held.get(own_key)
        is_new = had is None or had.to_json() != wanted.to_json()
        with self._alone(may_wait=is_new and not insist):
            self.look()
            others = [item for key, item in self._held.items() if key != own_key]
            others += [Holding({**item}) for item in self._elsewhere]
            busy = "" if insist else _shortage(wanted, others, limits)
            if busy:
                return busy
            wanted.seen = self._now()
            self._held[own_key] = wanted
            self.publish()
        self._save()
        return ""

    @contextmanager
    def _alone(self, *, may_wait: bool) -> Iterator[None]:
        """While no other agent of this machine gives a place away.

        Whoever has a place or insists on one does not wait for others.
        """
        if self._shared is None or not may_wait:
            yield
            return
        with self._shared.locked():
            yield

    def release(self, owner: str, key: str) -> bool:
        """Somebody leaves; whether they were here."""
        if self._held.pop((owner, key), None) is None:
            return False
        self._save()
        self.publish()
        return True

    def others(self, owner: str) -> list[HeldByOther]:
        """What everybody else has."""
        here = [item.to_json() for item in self._held.values() if item.owner != owner]
        return [*here, *self._elsewhere]

    def look(self) -> None:
        """See what is held through other agents of this machine."""
        if self._shared is not None:
            self._elsewhere = self._shared.others()

    def publish(self) -> None:
        """Let other agents of this machine know what is held, and by which processes."""
        if self._shared is not None:
            holdings = self._held.values()
            self._shared.publish([(item.to_json(), self._processes(item)) for item in holdings])

    def close(self) -> None:
        """Let other agents know that this one ends, and with it all that runs here."""
        if self._shared is not None:
            self._shared.withdraw()
            self._shared = None

    def expire(self, is_needed: Callable[[Holding], bool]) -> bool:
        """Let go of what nobody has needed for long; whether there was any."""
        now, gone = self._now(), []
        for key, holding in self._held.items():
            if is_needed(holding):
                holding.seen = now
            elif now - holding.seen >= holding.patience:
                gone.append(key)
        for key in gone:
            del self._held[key]
        if gone:
            self._save()
        self.publish()
        return bool(gone)


def _shortage(wanted: Holding, others: list[Holding], limits: HoldLimits) -> str:
    """Who has what is wanted; empty: it is free."""
    bounds = {"cpus": limits.get("cpus"), "memory": limits.get("memory")}
    for name, limit in bounds.items():
        number = getattr(wanted, name)
        held = sum(getattr(item, name) for item in others)
        if number and limit is not None and held + number > int(limit):
            return _by(item for item in others if getattr(item, name))
    for device, share in wanted.gpus.items():
        holders = [item for item in others if item.gpus.get(device)]
        if sum(item.gpus[device] for item in holders) + share > WHOLE:
            return _by(holders)
    return ""


def _by(holders: Iterable[Holding]) -> str:
    names = sorted({f"{item.client or 'another client'} ({item.name})" for item in holders})
    return f"it is in use by {', '.join(names)}" if names else "it does not have that much"
