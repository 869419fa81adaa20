"""What is free in each place, in whole numbers: the room of the managed queue."""

from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

from trainway.agent.controllers import gang_queue
from trainway.agent.controllers.gang_queue import Verdict
from trainway.queueing.amounts import Amounts, fits, shortages, subtract, told
from trainway.queueing.snapshot import RunningGang, WaitingGang


class Free(Protocol):
    """What a policy asks of the room that it decides about."""

    careless: Collection[str]
    """The ids of those who start even if they do not fit."""

    def free(self, lane: str) -> Amounts | None:
        """What nobody holds there; None: somebody else decides there."""
        ...

    def is_exempt(self, gang: WaitingGang) -> bool:
        """Whether it takes nothing from anybody, or does not care."""
        ...


class Places:
    """The room of all lanes; one without amounts belongs to a scheduler of its own."""

    def __init__(self, lanes: Mapping[str, Amounts | None], running: Iterable[RunningGang]) -> None:
        self.careless: Collection[str] = ()
        self._lanes = lanes
        self._free: dict[str, dict[str, int]] = {
            lane: dict(amounts) for lane, amounts in lanes.items() if amounts is not None
        }
        self._possible: set[tuple[str, int]] = set()
        """By lane and request: many jobs ask for the same."""
        for gang in running:
            if gang.lane in self._free:
                subtract(self._free[gang.lane], gang.request)

    def free(self, lane: str) -> Amounts | None:
        """What nobody holds; None: somebody else decides there."""
        return self._free.get(lane)

    def hopeless(self, gang: WaitingGang) -> Verdict | None:
        """Whether it asks for more than the place has."""
        shape = gang.lane, id(gang.request)
        if shape in self._possible:
            return None
        amounts = self._lanes.get(gang.lane)
        if amounts is None or fits(gang.request, amounts):
            self._possible.add(shape)
            return None
        short = shortages(gang.request, amounts)
        wants = "; ".join(
            f"{told(name, gang.request[name])}, and {gang.lane or 'this machine'} has "
            f"{told(name, amounts.get(name, 0))}"
            for name in short
        )
        return gang_queue.refuse(wants)

    def is_exempt(self, gang: WaitingGang) -> bool:
        """Whether it takes nothing from anybody here."""
        return gang.lane not in self._free or not any(gang.request.values())

    def judge(self, gang: WaitingGang) -> Verdict:
        """Whether all of it fits."""
        free = self._free.get(gang.lane)
        if free is None or fits(gang.request, free):
            return gang_queue.start(gang.lane)
        wants = " and ".join(
            f"{told(name, gang.request[name])}, and {told(name, max(free.get(name, 0), 0))} "
            f"{'is' if free.get(name, 0) == 1 else 'are'} free"
            for name in shortages(gang.request, free)
        )
        return gang_queue.wait(gang_queue.QUEUED, f"It needs {wants}.")

    def take(self, gang: WaitingGang, lane: str) -> None:
        """So much less is free."""
        if lane in self._free:
            subtract(self._free[lane], gang.request)

    def name(self, gang: WaitingGang) -> str:
        """What it is called."""
        return gang.name or gang.id
