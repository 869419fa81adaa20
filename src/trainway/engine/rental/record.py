"""What is rented, as the ledger has it, and what may follow what.

A row stands for one request to a cloud, and is written before the request is sent. When the cloud
refuses, its row ends and another one begins elsewhere, with the history of those before it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from trainway.providers.base import GangRequest, Machine, MachineState, Place


class RentalState(StrEnum):
    """Where a rental is in its life."""

    PLANNED = "PLANNED"
    """It is wanted, and nothing was asked of a cloud yet."""
    CREATING = "CREATING"
    """A cloud is asked for its machines, and may have made some."""
    RUNNING = "RUNNING"
    STOPPING = "STOPPING"
    STOPPED = "STOPPED"
    """Its machines cost nothing but their disks, and can start again."""
    STARTING = "STARTING"
    ENDING = "ENDING"
    """All of it is to be given back, whatever there is."""
    ENDED = "ENDED"
    """Nothing of it is left."""


FOLLOWING: Final[Mapping[RentalState, frozenset[RentalState]]] = {
    RentalState.PLANNED: frozenset({RentalState.CREATING, RentalState.ENDING}),
    RentalState.CREATING: frozenset({RentalState.RUNNING, RentalState.ENDING}),
    RentalState.RUNNING: frozenset({RentalState.STOPPING, RentalState.STOPPED, RentalState.ENDING}),
    RentalState.STOPPING: frozenset({RentalState.STOPPED, RentalState.RUNNING, RentalState.ENDING}),
    RentalState.STOPPED: frozenset({RentalState.STARTING, RentalState.ENDING}),
    RentalState.STARTING: frozenset({RentalState.RUNNING, RentalState.STOPPED, RentalState.ENDING}),
    RentalState.ENDING: frozenset({RentalState.ENDED}),
    RentalState.ENDED: frozenset(),
}
"""What may follow what.

A machine may stop itself, so STOPPED may follow RUNNING; a cloud may refuse to stop one.
"""

IN_THE_MAKING: Final = frozenset({RentalState.PLANNED, RentalState.CREATING})
ON_THE_WAY_OUT: Final = frozenset({RentalState.ENDING, RentalState.ENDED})


@dataclass(frozen=True)
class RentedMachine:
    """One machine of a rental, as its cloud last showed it."""

    id: str
    rank: int
    public_address: str = ""
    private_address: str = ""
    ssh_port: int = 22
    user: str = ""
    state: str = MachineState.STARTING
    launched: str = ""
    """Since when it costs something."""
    ended: str = ""
    """When it stopped or ended, and ceased to; empty: it still does."""
    before: Sequence[tuple[str, str]] = ()
    """When else it cost something, from and to, before it was started again."""
    taken: str = ""
    """When its cloud takes it back, or did, as an ISO 8601 time in UTC; empty: it does not."""
    why: str = ""
    """Why its cloud takes it, in its words."""


@dataclass(frozen=True)
class Attempt:
    """Something that was tried and did not work, for people."""

    cloud: str
    region: str = ""
    zone: str = ""
    instance_type: str = ""
    spot: bool = False
    hourly_price: str = ""
    error: str = ""
    scope: str = ""
    """How far the error reaches, as a word of `providers.errors.Scope`."""
    at: str = ""
    reservation: str = ""
    """What it was to be taken out of; empty: nothing that was reserved."""


@dataclass(frozen=True, kw_only=True)
class Rental:
    """One row of `rentals`."""

    cluster: str
    token: str
    """Names the request to the cloud, and every machine that is made for it."""
    state: RentalState = RentalState.PLANNED
    cloud: str = ""
    region: str = ""
    zone: str = ""
    instance_type: str = ""
    spot: bool = False
    nodes: int = 1
    hourly_price: str = "0"
    """Of all nodes, in dollars, as a decimal number."""
    on_demand_price: str = ""
    """What the same machines cost on demand; empty: they are not spot, or nobody says."""
    machines: Sequence[RentedMachine] = ()
    """In the order of their ranks."""
    history: Sequence[Attempt] = ()
    message: str = ""
    request: str = ""
    """What is asked of the cloud, as JSON, so that it can be asked again."""
    created: str = ""
    changed: str = ""

    @property
    def price(self) -> Decimal:
        """Dollars an hour for all nodes."""
        return Decimal(self.hourly_price)

    @property
    def infra(self) -> str:
        """Where it is: `aws/us-east-1/us-east-1a`."""
        return "/".join(part for part in (self.cloud, self.region, self.zone) if part)

    @property
    def place(self) -> str:
        """Where it is, and what, for people."""
        if not self.cloud:
            return "the next best offer"
        return f"{self.instance_type}{' (spot)' if self.spot else ''} on {self.infra}"

    @property
    def gang(self) -> GangRequest:
        """What is asked of the cloud."""
        data = json.loads(self.request)
        return GangRequest(**{**data, "place": Place(**data["place"])})

    def followed_by(self, state: RentalState, **columns: Any) -> "Rental":
        """In its next state; a ValueError if the table does not allow it."""
        if state not in FOLLOWING[self.state]:
            raise ValueError(f"a rental cannot come to {state} from {self.state}")
        return replace(self, state=state, **columns)


def request_text(gang: GangRequest) -> str:
    """A request as a row keeps it: without the host key, which is a secret."""
    return json.dumps({**asdict(gang), "host_key": ""})


def rented(machines: Sequence[Machine]) -> tuple[RentedMachine, ...]:
    """Machines of a cloud as a rental has them, in the order of their ranks."""
    return tuple(
        RentedMachine(
            each.id,
            each.rank,
            each.public_address,
            each.private_address,
            each.ssh_port,
            each.user,
            each.state,
            each.launched,
        )
        for each in sorted(machines, key=lambda machine: (machine.rank, machine.id))
    )
