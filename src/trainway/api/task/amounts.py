"""Amounts as tasks write them: CPUs (`4+`), memory and disks (`64GB`), times (`10h`), ports."""

import re
from dataclasses import dataclass
from typing import Any, Final

from trainway.schema.shape import Either, Items, Number, Text

_UNITS: Final = {"k": 1 / 2**20, "m": 1 / 2**10, "g": 1, "t": 2**10, "p": 2**20}
"""In GB, which are powers of 2^10 here."""
_MEMORY: Final = r"(?P<number>[0-9]{1,15}(?:\.[0-9]{1,15})?)(?P<unit>(?i:[kmgtp][bi])?)"
_PORT: Final = re.compile(r"\s*([0-9]{1,6})\s*(?:-\s*([0-9]{1,6})\s*)?", re.ASCII)
_HIGHEST_PORT: Final = 65535

_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_CPUS: Final = r"[0-9]{1,12}(\.[0-9]{1,12})?\+?"
_AMOUNT: Final = Number(above=0, most=10**9)

CPUS: Final = Either((_AMOUNT, Text(_CPUS, 'must be a number of CPUs such as 4 or "4+"')))
MEMORY: Final = Either(
    (
        _AMOUNT,
        Text(
            rf"{_MEMORY}\+?|[0-9]{{1,9}}(\.[0-9]{{1,9}})?x",
            'must be an amount of memory such as 32, "32+" or "64GB"',
        ),
    )
)
SIZE: Final = Either(
    (
        Number(whole=True, above=0, most=10**9),
        Text(_MEMORY, "must be a size such as 256, 256GB or 1TB"),
    )
)
MINUTES: Final = Text(r"[0-9]{1,9}[mhdwMHDW]?", "must be a time such as 10, 10m, 10h, 2d or 1w")
SECONDS: Final = Text(r"[0-9]{1,9}[smhdwSMHDW]?", "must be a time such as 30s, 10m, 1h, 2d or 1w")
PORTS: Final = Either(
    (Number(whole=True), Text(), Items(Either((Number(whole=True), Text())), least=1))
)


@dataclass(frozen=True)
class Amount:
    """How much, and whether more will do."""

    value: float
    at_least: bool = False
    per_cpu: bool = False
    """It is for each CPU."""


def cpus(value: float | str) -> Amount:
    """CPUs that passed `CPUS`."""
    text = str(value)
    return Amount(float(text.removesuffix("+")), at_least=text.endswith("+"))


def memory(value: float | str) -> Amount:
    """Memory in GB that passed `MEMORY`."""
    if not isinstance(value, str):
        return Amount(float(value))
    if value.endswith("x"):
        return Amount(float(value[:-1]), per_cpu=True)
    return Amount(gigabytes(value.removesuffix("+")), at_least=value.endswith("+"))


def gigabytes(value: float | str) -> float:
    """A size that passed `SIZE`, in GB."""
    match = re.fullmatch(_MEMORY, str(value), re.ASCII)
    if match is None:
        return float(value)
    unit = match["unit"].lower()
    return float(match["number"]) * (_UNITS[unit[0]] if unit else 1)


def minutes(value: int | str) -> int:
    """A time that passed `MINUTES`; without a unit it is minutes."""
    text = str(value).lower()
    unit = text[-1] if text[-1] in _SECONDS else "m"
    return int(text.rstrip("mhdw")) * _SECONDS[unit] // 60


def seconds(value: str) -> int:
    """A time that passed `SECONDS`; without a unit it is seconds."""
    text = value.lower()
    unit = text[-1] if text[-1] in _SECONDS else "s"
    return int(text.rstrip("smhdw")) * _SECONDS[unit]


def port_ranges(value: Any) -> list[tuple[int, int]]:
    """The ports of a number, `"a-b"`, `"a,b-c"` or a list; ValueError says what is no port."""
    items = value if isinstance(value, list) else [value]
    ranges = []
    for text in (part for item in items for part in str(item).split(",")):
        match = _PORT.fullmatch(text)
        if match is None:
            raise ValueError(f"{text.strip()!r} is not a port or a range of ports")
        first, last = int(match[1]), int(match[2] or match[1])
        if not 1 <= first <= last <= _HIGHEST_PORT:
            raise ValueError(
                f"{text.strip()!r}: ports are from 1 to {_HIGHEST_PORT}, and a range starts with"
                " the lower one"
            )
        ranges.append((first, last))
    return ranges
