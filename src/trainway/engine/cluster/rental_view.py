"""A rental as the API shows it."""

from trainway.engine.rental.interruption import interruption
from trainway.engine.rental.record import Rental
from trainway.json_types import Json


def rental_view(rental: Rental) -> Json:
    """What is rented for a cluster, what was tried before, and whether a cloud takes it back."""
    taken = interruption(rental)
    return {
        "state": str(rental.state),
        "cloud": rental.cloud,
        "region": rental.region,
        "zone": rental.zone,
        "instanceType": rental.instance_type,
        "spot": rental.spot,
        "hourlyPrice": rental.hourly_price,
        "message": rental.message,
        "interruption": None if taken is None else {"until": taken.until, "message": taken.words},
        "history": [
            {
                "infra": "/".join(part for part in (each.cloud, each.region, each.zone) if part),
                "instanceType": each.instance_type,
                "spot": each.spot,
                "hourlyPrice": each.hourly_price,
                "error": each.error,
                "at": each.at,
            }
            for each in rental.history
        ],
    }
