"""What an hour on own machines costs, as the section `prices` of `config.yaml` says it. Pure.

prices:
  slurm/hpc: 1.20        # an hour of each node
  ssh/lab:
    node: 0.10           # of each node
    cpu: 0.01            # of each CPU that a job requests
    gpu: 0.80            # of each GPU, where its type has no price
    gpus: {H100: 2.50}   # of each GPU of a type

A place that is not named costs what its family does, and nothing where neither is named. Money is
decimal: what is added up here is right to the cent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from trainway.families.table import name_of
from trainway.schema.shape import Either, Number, Record, Table

_AMOUNT: Final = Number(least=0, most=1_000_000)
SHAPE: Final = Table(
    Either(
        (
            _AMOUNT,
            Record({"node": _AMOUNT, "cpu": _AMOUNT, "gpu": _AMOUNT, "gpus": Table(_AMOUNT)}),
        )
    )
)
_NOTHING: Final = Decimal(0)


@dataclass(frozen=True)
class Asked:
    """What a job has at the same time, with all its nodes."""

    nodes: int = 1
    cpus: Decimal = _NOTHING
    gpus: int = 0
    types: Mapping[str, int] = field(default_factory=dict)
    """How many of the GPUs are of a type, where that is known."""


@dataclass(frozen=True)
class PlacePrice:
    """What an hour costs in one place."""

    node: Decimal = _NOTHING
    cpu: Decimal = _NOTHING
    gpu: Decimal | None = None
    """None: what the dearest type costs, so that nobody is told too little."""
    gpus: Mapping[str, Decimal] = field(default_factory=dict)
    """By type, in small letters."""

    def hourly(self, asked: Asked) -> Decimal:
        """What an hour of a whole job costs."""
        total = self.node * asked.nodes + self.cpu * asked.cpus
        known = 0
        for name, count in asked.types.items():
            known += count
            total += self._of_type(name) * count
        return total + self._untyped * max(asked.gpus - known, 0)

    def _of_type(self, name: str) -> Decimal:
        return self.gpus.get(name.lower(), self._untyped)

    @property
    def _untyped(self) -> Decimal:
        return max(self.gpus.values(), default=_NOTHING) if self.gpu is None else self.gpu


def place_price(prices: Mapping[str, Any], place: str) -> PlacePrice | None:
    """The price of a place; None: nobody said."""
    found = prices.get(place)
    if found is None:
        found = prices.get(name_of(place))
    if found is None:
        return None
    if not isinstance(found, Mapping):
        return PlacePrice(node=amount(found))
    said = [name for name in ("node", "cpu", "gpu") if found.get(name) is not None]
    parts = {name: amount(found[name]) for name in said}
    types = {name.lower(): amount(value) for name, value in (found.get("gpus") or {}).items()}
    return PlacePrice(**parts, gpus=types)


def amount(number: float | str | Decimal) -> Decimal:
    """An amount as it was written: 0.1 is a tenth."""
    return number if isinstance(number, Decimal) else Decimal(str(number))
