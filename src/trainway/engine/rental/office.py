"""Where the rentals of a server are had: nothing of clouds is loaded before somebody needs it."""

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from trainway.backends import configuration
from trainway.engine.ids import Ids
from trainway.engine.ledger import Ledger
from trainway.engine.rental.host_key import host_key
from trainway.engine.rental.ssh_key import SshKey, ssh_key
from trainway.errors import TrainwayError
from trainway.providers.section import CloudSettings, settings_of

if TYPE_CHECKING:
    from trainway.engine.rental.record import Rental
    from trainway.engine.rental.rentals import Rentals


class RentalOffice:
    """The rentals of one server, made when they are needed."""

    def __init__(self, ledger: Ledger, ids: Ids, clock: Callable[[], datetime], home: Path) -> None:
        self._ledger = ledger
        self._ids = ids
        self._clock = clock
        self._home = home
        self._is_open = False

    @cached_property
    def rentals(self) -> "Rentals":
        """The rentals; with an empty ledger there is nothing to start."""
        from trainway.catalog.sources import cache_folder, open_catalog  # noqa: PLC0415 - see above
        from trainway.engine.rental.clouds import Clouds  # noqa: PLC0415 - see above
        from trainway.engine.rental.context import RentalContext  # noqa: PLC0415 - see above
        from trainway.engine.rental.rentals import Rentals  # noqa: PLC0415 - see above
        from trainway.engine.rental.server_id import server_id  # noqa: PLC0415 - see above

        self._is_open = True
        cache = cache_folder(os.environ)
        around = RentalContext(
            *(self._ledger, self._ids, self._clock, Clouds()),
            catalog=partial(open_catalog, self._home, cache, os.environ),
            owner=partial(server_id, self._home),
            host_key=self._host_key,
        )
        return Rentals(around)

    def settings(self) -> dict[str, CloudSettings]:
        """What config.yaml says of each cloud, now."""
        return settings_of(configuration.read(self._home).get("clouds") or {})

    def _host_key(self, rental: "Rental") -> str:
        settings = CloudSettings()
        with suppress(TrainwayError):  # config.yaml may be broken now; what was begun goes on
            settings = self.settings().get(rental.cloud, settings)
        return host_key(self._home, rental.token, is_wanted=settings.gives_host_keys)

    def places(self) -> list[str]:
        """The clouds that may be chosen where nobody names one: config.yaml says so of each."""
        return [cloud for cloud, settings in self.settings().items() if settings.is_for_any]

    def ssh_key(self) -> SshKey:
        """The key that leads to rented machines; it is made if there is none."""
        return ssh_key(self._home)

    @property
    def is_open(self) -> bool:
        """Whether anything was rented, by this server or an earlier one."""
        return self._is_open

    async def start(self) -> None:
        """Take up what an earlier server rented, if it did."""
        if await self._ledger.call(self._ledger.store.rentals.living):
            await self.rentals.start()

    async def close(self) -> None:
        """Look after them no more."""
        if self._is_open:
            await self.rentals.close()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is rented that runs or changes."""
        return not self._is_open or self.rentals.is_idle
