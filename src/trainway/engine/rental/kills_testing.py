"""A server that is killed somewhere in the life of a cluster, and the one that comes after it."""

import random
from pathlib import Path
from typing import Final

from trainway.engine.rental.record import RentalState
from trainway.engine.rental.rentals import Rentals
from trainway.engine.rental.testing import (
    CLUSTER,
    OWNER,
    TERMS,
    RentalWorld,
    Steps,
    settled,
)
from trainway.engine.testing import memory_database
from trainway.errors import ConflictError, UnavailableError
from trainway.providers.testing import Break, Fault

NODES: Final = 2
WISHES: Final = ("rent", "stop", "resume", "end")
_LEFT: Final = {
    "rent": RentalState.RUNNING,
    "stop": RentalState.STOPPED,
    "resume": RentalState.RUNNING,
    "end": None,
}
"""What there is when a wish is fulfilled."""
HALF: Final = Fault("machine", Break.CAPACITY, zone="east-a", skip=1)
"""The first offer fails, with half of its machines made."""
_TROUBLES: Final = (
    (
        "create",
        (Break.CAPACITY, Break.QUOTA, Break.LOST_ANSWER, Break.THROTTLED, Break.UNREACHABLE),
    ),
    ("machine", (Break.CAPACITY, Break.LOST_ANSWER)),
    ("find", (Break.UNREACHABLE, Break.THROTTLED)),
    ("stop", (Break.LOST_ANSWER, Break.UNREACHABLE)),
    ("start", (Break.LOST_ANSWER, Break.THROTTLED)),
    ("end", (Break.LOST_ANSWER, Break.UNREACHABLE)),
    ("release", (Break.LOST_ANSWER, Break.UNREACHABLE)),
)
MOST_STEPS: Final = 45
"""About as many as a life has that meets a few of these troubles."""


def random_faults(chance: random.Random) -> list[Fault]:
    """A few troubles in the life of a cluster."""
    faults = []
    for step, breaks in chance.sample(_TROUBLES, k=chance.randrange(4)):
        times, skip = chance.randrange(1, 4), chance.randrange(2)
        faults.append(Fault(step, chance.choice(breaks), skip=skip, times=times))
    return faults


def random_steps(
    chance: random.Random, *, kills_for_real: bool = False, most: int = MOST_STEPS
) -> Steps:
    """A kill at any step, before or after it."""
    at, after = chance.randrange(most), chance.random() < 0.5
    return Steps(kill_at=at, after=after, kills_for_real=kills_for_real)


class KilledLife:
    """The life of a cluster, of which all is kept in a folder but maybe the database."""

    def __init__(self, folder: Path, world: RentalWorld | None = None) -> None:
        self.world = world or RentalWorld(folder, memory_database())
        self._asked = folder / "asked"

    @property
    def _wish(self) -> str:
        """What its owner asked for last."""
        return self._asked.read_text() if self._asked.exists() else ""

    def live(self, steps: Steps) -> bool:
        """All wishes one after the other; False: the server was killed."""

        async def script(rentals: Rentals) -> None:
            for wish in WISHES:
                self._asked.write_text(wish)
                await self._ask(rentals, wish, steps)
                steps.check()

        return self.world.live(script, steps)

    def live_on(self, steps: Steps) -> bool:
        """A server that takes up what the last one left, and may be killed too."""

        async def script(rentals: Rentals) -> None:
            await settled(rentals, steps)
            if self._wish:
                await self._ask(rentals, self._wish, steps)
            steps.check()

        return self.world.live(script, steps)

    def restart(self) -> list[str]:
        """Begin a server that is not killed; what is wrong after it and a sweep."""
        self.world.mend()
        wrong: list[str] = []

        async def script(rentals: Rentals) -> None:
            await settled(rentals)
            wrong.extend(self._differences(rentals, "after the restart"))
            if self._wish:
                await self._ask(rentals, self._wish)  # its owner asks again
            await settled(rentals)
            wrong.extend(self._differences(rentals, f"after {self._wish} again"))
            report = await rentals.sweep(dry_run=False)
            wrong.extend(f"{each.id} was leaked" for each in report.machines)
            wrong.extend(report.problems)
            found = rentals.find(CLUSTER)
            if (found.state if found else None) != _LEFT.get(self._wish):
                wrong.append(f"after {self._wish} there is {found}")

        self.world.live(script)
        return wrong

    def _differences(self, rentals: Rentals, when: str) -> list[str]:
        """What the ledger and the clouds do not agree about."""
        known = {each.id for rental in rentals.all() for each in rental.machines}
        there = self.world.living()
        wrong = []
        if known != there:
            wrong.append(f"{when} the ledger has {sorted(known)}, the clouds {sorted(there)}")
        if len(there) not in (0, NODES):
            wrong.append(f"{when} there are {len(there)} machines")
        rules = [f"{OWNER}/{CLUSTER}"] if there else []
        if self.world.rules() != rules:
            wrong.append(f"{when} the clouds keep {self.world.rules()}")
        return wrong

    async def _ask(self, rentals: Rentals, wish: str, steps: Steps | None = None) -> None:
        """Ask for something until it is done, as an owner does who is told that a cloud is away."""
        while True:
            try:
                if wish == "rent":
                    await rentals.rent(CLUSTER, self.world.wanted(NODES), TERMS)
                else:
                    await getattr(rentals, wish)(CLUSTER)
            except (UnavailableError, ConflictError):
                await settled(rentals, steps)
            else:
                return
