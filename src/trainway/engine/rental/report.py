"""What is rented of clouds now, and what they have refused lately, for people. Pure."""

from collections.abc import Iterable
from typing import Final

from trainway.engine.rental.record import IN_THE_MAKING, Attempt, Rental, RentalState
from trainway.json_types import Json

_MOST_REFUSALS: Final = 20


def rented_view(rental: Rental) -> Json:
    """A rental as it stands in the list of a cloud; its price counts while its machines run."""
    is_paid = rental.state is not RentalState.STOPPED and rental.state not in IN_THE_MAKING
    return {
        "cluster": rental.cluster,
        "cloud": rental.cloud,
        "region": rental.region,
        "zone": rental.zone,
        "instanceType": rental.instance_type,
        "spot": rental.spot,
        "reservation": rental.gang.reservation if rental.request else "",
        "nodes": rental.nodes,
        "state": str(rental.state),
        "hourlyPrice": float(rental.price) if is_paid else 0.0,
        "message": rental.message,
        "since": rental.created,
    }


def refusals(rentals: Iterable[Rental], noted: Iterable[Attempt]) -> list[Json]:
    """What clouds have refused, newest first: as rows remember it, and as this server does."""
    attempts = {each for rental in rentals for each in rental.history} | set(noted)
    newest = sorted(attempts, key=lambda each: (each.at, each.region, each.zone), reverse=True)
    return [
        {
            "cloud": each.cloud,
            "region": each.region,
            "zone": each.zone,
            "instanceType": each.instance_type,
            "spot": each.spot,
            "error": each.error,
            "at": each.at,
        }
        for each in newest[:_MOST_REFUSALS]
    ]
