"""What a job costs for each hour, since when, and why: the column `rates` of a job. Pure.

A rate holds until the next one begins. One of own machines counts while pods of the job run; one of
rented machines counts all the time, from when they were had until they were given back, whatever
runs on them. Rates are only ever added: a price that changes counts from when it was read.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from trainway.json_types import Json

Columns = dict[str, Any]


@dataclass(frozen=True)
class Rate:
    """What all nodes of a job cost together."""

    since: str
    hourly: Decimal
    place: str
    """The backend of the job then."""
    nodes: int = 1
    is_rented: bool = False
    infra: str = ""
    """Where rented machines are: `aws/us-east-1/us-east-1a`."""
    instance_type: str = ""
    is_spot: bool = False
    on_demand: Decimal | None = None
    """What the same machines cost on demand; None: they are not cheaper than that."""
    attempt: int = 0
    """The attempt that rented machines were had for."""

    def to_dict(self) -> Json:
        """For the store; amounts are text, which loses nothing."""
        told: Json = {"since": self.since, "hourly": str(self.hourly), "place": self.place}
        more: Json = {
            "nodes": self.nodes if self.nodes != 1 else None,
            "rented": self.is_rented,
            "infra": self.infra,
            "instanceType": self.instance_type,
            "spot": self.is_spot,
            "onDemand": None if self.on_demand is None else str(self.on_demand),
            "attempt": self.attempt,
        }
        return told | {name: value for name, value in more.items() if value}

    @classmethod
    def from_dict(cls, data: Json) -> "Rate":
        """What `to_dict` wrote."""
        return cls(
            since=data["since"],
            hourly=Decimal(data["hourly"]),
            place=data["place"],
            nodes=data.get("nodes", 1),
            is_rented=bool(data.get("rented")),
            infra=data.get("infra", ""),
            instance_type=data.get("instanceType", ""),
            is_spot=bool(data.get("spot")),
            on_demand=Decimal(data["onDemand"]) if data.get("onDemand") else None,
            attempt=data.get("attempt", 0),
        )


@lru_cache(10_000)
def rates_of(text: str | None) -> tuple[Rate, ...]:
    """The rates of a job, oldest first, as its column has them."""
    return tuple(Rate.from_dict(each) for each in json.loads(text)) if text else ()


def with_rate(rates: Sequence[Rate], rate: Rate) -> Columns:
    """The columns of a job for which a rate begins."""
    return {"rates": json.dumps([each.to_dict() for each in (*rates, rate)])}
