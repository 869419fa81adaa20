"""A server that is killed somewhere in the life of a cluster, and the one that comes after it."""

from collections.abc import Sequence
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
    wanted,
)
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


class KilledLife:
    """The life of a cluster, whose first offer fails with half of its machines made."""

    def __init__(self, folder: Path, faults: Sequence[Fault] = ()) -> None:
        self.world = RentalWorld(folder)
        half = Fault("machine", Break.CAPACITY, zone="east-a", skip=1)
        self.world.aws.break_next(half, *faults)
        self._wish = ""

    def live(self, steps: Steps) -> bool:
        """All wishes one after the other; False: the server was killed."""

        async def script(rentals: Rentals) -> None:
            for wish in WISHES:
                self._wish = wish
                await _ask(rentals, wish)
                steps.check()

        return self.world.live(script, steps)

    def restart(self) -> list[str]:
        """Begin a server that is not killed; what is wrong after it and a sweep."""
        self.world.aws.mend()
        wrong: list[str] = []

        async def script(rentals: Rentals) -> None:
            await settled(rentals)
            wrong.extend(self._differences(rentals, "after the restart"))
            if self._wish:
                await _ask(rentals, self._wish)  # its owner asks again
            await settled(rentals)
            wrong.extend(self._differences(rentals, f"after {self._wish} again"))
            report = await rentals.sweep(dry_run=False)
            wrong.extend(f"{each.id} was leaked" for each in report.machines)
            wrong.extend(report.problems)
            found = rentals.find(CLUSTER)
            left = _LEFT.get(self._wish)
            if (found.state if found else None) != left:
                wrong.append(f"after {self._wish} there is {found}")

        self.world.live(script)
        return wrong

    def _differences(self, rentals: Rentals, when: str) -> list[str]:
        """What the ledger and the clouds do not agree about."""
        known = {each.id for rental in rentals.all() for each in rental.machines}
        there = {each.id for each in self.world.machines()}
        wrong = []
        if known != there:
            wrong.append(f"{when} the ledger has {sorted(known)}, the clouds {sorted(there)}")
        if len(there) not in (0, NODES):
            wrong.append(f"{when} there are {len(there)} machines")
        rules = [f"{OWNER}/{CLUSTER}"] if there else []
        if self.world.rules() != rules:
            wrong.append(f"{when} the clouds keep {self.world.rules()}")
        return wrong


async def _ask(rentals: Rentals, wish: str) -> None:
    if wish == "rent":
        await rentals.rent(CLUSTER, wanted(NODES), TERMS)
    elif wish == "stop":
        await rentals.stop(CLUSTER)
    elif wish == "resume":
        await rentals.resume(CLUSTER)
    else:
        await rentals.end(CLUSTER)
