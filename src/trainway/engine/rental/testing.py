"""Servers that rent of stand-in clouds, and are killed at any step: what tests share."""

import asyncio
import logging
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Engine

from trainway.api.accelerators import Accelerator
from trainway.catalog.csv_format import Row
from trainway.catalog.store import Catalog
from trainway.engine.faulty_store import Faults, faulty_store
from trainway.engine.ids import Ids
from trainway.engine.ledger import Ledger
from trainway.engine.rental.clouds import Clouds
from trainway.engine.rental.context import RentalContext
from trainway.engine.rental.office import RentalOffice
from trainway.engine.rental.record import Rental, RentalState
from trainway.engine.rental.rentals import Rentals
from trainway.engine.rental.ssh_key import SshKey
from trainway.engine.rental.terms import Terms
from trainway.engine.rental.watcher import INTERVAL_S
from trainway.engine.store import Store
from trainway.engine.testing import memory_database
from trainway.optimizer.request import Request, TaskRequest
from trainway.optimizer.testing import catalog_of, row
from trainway.providers.base import Machine, Provider
from trainway.providers.section import CloudSettings
from trainway.providers.testing import Killed, StandInCloud

OWNER: Final = "5e12fe4"
CLUSTER: Final = "train"
TERMS: Final = Terms(public_key="ssh-ed25519 AAAA trainway")
_H100: Final = partial(row, accelerator="H100", count=8)
ROWS: Final[dict[str, Sequence[Row]]] = {
    "aws": [
        _H100("p5", 10, region="east", zone="east-a", spot=4),
        _H100("p5", 10, region="east", zone="east-b", spot=4.5),
        _H100("p5", 12, region="west", zone="west-a", spot=5),
    ],
    "gcp": [_H100("a3", 11, region="east", zone="east-a", spot=3)],
    "elsewhere": [_H100("cheap", 1, region="moon")],
}
"""A cloud for which there is no provider is the cheapest."""
LASTING: Final = frozenset({RentalState.RUNNING, RentalState.STOPPED})


def wanted(nodes: int = 2, *, spot: bool = False) -> TaskRequest:
    """Machines with eight H100."""
    return TaskRequest("t", (Request(accelerator=Accelerator("H100", 8), nodes=nodes, spot=spot),))


@dataclass
class Steps(Faults):
    """Counts what servers do to the store and to clouds, and kills one at a step."""

    kill_at: int = -1
    kills_for_real: bool = False
    """With SIGKILL, for a process that is a server and nothing else."""
    is_dead: bool = False

    def call(self, name: str, work: Callable[[], Any]) -> Any:
        """Do a step, unless the server is killed before or after it, or was before."""
        if self.is_dead:
            raise Killed
        number = len(self.calls)
        self.calls.append(name)
        try:
            if number != self.kill_at:
                return work()
            if self.after:
                work()
            if self.kills_for_real:
                os.kill(os.getpid(), signal.SIGKILL)
            raise Killed
        except Killed:
            self.is_dead = True
            raise

    def check(self) -> None:
        """Be killed with the server, whatever its tasks were about."""
        if self.is_dead:
            raise Killed


class Counted:
    """A provider whose calls are steps."""

    def __init__(self, provider: StandInCloud, steps: Steps) -> None:
        self._provider = provider
        self._steps = steps

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._provider, name)
        if not callable(found) or name == "missing":
            return found
        return lambda *args, **more: self._steps.call(name, lambda: found(*args, **more))


@dataclass
class RentalWorld:
    """Two clouds, a catalog and a database, which outlive servers."""

    folder: Path
    database: Engine = field(default_factory=memory_database)
    pauses: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ids = Ids()
        catalog_of(self.folder, ROWS).close()
        self.clouds = {
            name: StandInCloud(self.folder / f"{name}.json", name) for name in ("aws", "gcp")
        }

    @property
    def aws(self) -> StandInCloud:
        """The cloud that is cheapest on demand."""
        return self.clouds["aws"]

    @property
    def gcp(self) -> StandInCloud:
        """The cloud that is cheapest as spot."""
        return self.clouds["gcp"]

    def wanted(self, nodes: int) -> TaskRequest:
        """Machines that these clouds offer."""
        return wanted(nodes)

    def mend(self) -> None:
        """Let nothing go wrong any more."""
        for cloud in self.clouds.values():
            cloud.mend()

    def machines(self) -> list[Machine]:
        """All machines of all clouds that cost something."""
        return [each for cloud in self.clouds.values() for each in cloud.machines()]

    def living(self) -> set[str]:
        """Their ids."""
        return {each.id for each in self.machines()}

    def rules(self) -> list[str]:
        """What clusters have besides machines."""
        return [rule for cloud in self.clouds.values() for rule in cloud.rules()]

    async def pause(self, seconds: float) -> None:
        """Let no time pass; nobody looks at machines by himself."""
        if seconds == INTERVAL_S:
            await asyncio.Event().wait()
        self.pauses.append(seconds)
        await asyncio.sleep(0)

    def providers(self, steps: Steps) -> dict[str, Provider]:
        """What servers rent of, with calls that are steps."""
        return {name: _provider(Counted(cloud, steps)) for name, cloud in self.clouds.items()}

    def server(
        self, steps: Steps | None = None, store: Store | None = None
    ) -> tuple[Rentals, RentalContext]:
        """A server that begins, with what it is made of."""
        steps = steps or Steps()
        ledger = Ledger(store or faulty_store(self.database, steps))
        providers = self.providers(steps)
        clouds = Clouds(lambda name: providers[name], lambda: sorted(providers))
        around = RentalContext(
            *(
                ledger,
                self.ids,
                lambda: datetime.now(UTC),
                clouds,
            ),
            catalog=lambda: Catalog(self.folder / "catalog.sqlite"),
            owner=lambda: OWNER,
            pause=self.pause,
        )
        return Rentals(around), around

    def live(
        self, script: Callable[[Rentals], Awaitable[object]], steps: Steps | None = None
    ) -> bool:
        """Let a server live through a script; False: it was killed."""
        steps = steps or Steps()

        async def life() -> bool:
            rentals, around = self.server(steps)
            try:
                await rentals.start()
                await script(rentals)
                await settled(rentals, steps)
            except Killed:
                return False
            finally:
                await _stopped()
                with suppress(Killed):
                    await rentals.close()
                around.ledger.close()
            return True

        return asyncio.run(life())


class StandInOffice(RentalOffice):
    """Where the rentals of a server are had that somebody else has made."""

    def __init__(self, rentals: Rentals) -> None:
        self.__dict__["rentals"] = rentals
        self._is_open = True

    async def start(self) -> None:
        """Take up what an earlier server rented."""
        await self.rentals.start()

    def ssh_key(self) -> SshKey:
        """A key that leads nowhere."""
        return SshKey(TERMS.public_key, "/key", "/clouds")

    def settings(self) -> dict[str, CloudSettings]:
        """None."""
        return {}


def _provider(found: Any) -> Provider:
    provider: Provider = found
    return provider


async def settled(rentals: Rentals, steps: Steps | None = None) -> list[Rental]:
    """Wait until nothing is on its way any more."""
    async with asyncio.timeout(60):
        while any(each.state not in LASTING for each in rentals.all()):
            (steps or Steps()).check()
            await asyncio.sleep(0.0005)
    return rentals.all()


async def _stopped() -> None:
    """End all that a server does, as a kill does."""
    mine = asyncio.current_task()
    others = [task for task in asyncio.all_tasks() if task is not mine]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


logging.getLogger("trainway.engine.rental").setLevel(logging.ERROR)
