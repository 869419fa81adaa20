"""What rentals need of the rest of the server."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from trainway.catalog.store import Catalog
from trainway.engine.ids import Ids
from trainway.engine.ledger import Ledger
from trainway.engine.rental.clouds import Clouds
from trainway.engine.rental.record import Rental


@dataclass(frozen=True)
class RentalContext:
    """What rentals need of the rest of the server."""

    ledger: Ledger
    ids: Ids
    clock: Callable[[], datetime]
    clouds: Clouds
    catalog: Callable[[], Catalog]
    """Opens the catalog, in the thread that reads it."""
    owner: Callable[[], str]
    """The id of this server, which marks what it rents."""
    host_key: Callable[[Rental], str] = lambda _rental: ""
    """The private host key that machines start with, in a thread; empty: they make one."""
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Lets seconds pass."""
