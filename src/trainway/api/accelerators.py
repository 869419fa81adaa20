"""Accelerators: `A100:8`, `{A100: 8, H100: 8}`, `[A100:8, V100:8]`, or by memory: `80GB+:2`."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from trainway.schema.field import FieldError, Path, invalid, key_step
from trainway.schema.shape import Either, Items, Number, Table, Text

_COUNT: Final = r"[0-9]{1,6}(?:\.[0-9]{1,6})?"
_WORD: Final = r"[A-Za-z0-9][A-Za-z0-9._+-]*"
_ONE: Final = re.compile(
    rf"\s*(?:(?P<maker>[A-Za-z]+):(?=[0-9]+GB))?(?P<name>{_WORD}(?: (?:{_WORD}|\({_WORD}\)))*)"
    rf"\s*(?::\s*(?P<count>{_COUNT}))?\s*",
    re.ASCII,
)
_NO_NAME: Final = re.compile(
    r"[0-9]+[xX]? .*|.* (?:[xX] ?)?[0-9]{1,2}[xX]?|(?=.* )[^0-9]*", re.ASCII
)
"""Words that are none: `8x A100`, `A100 8` and `80 GB` are counts, and `a lot` is a sentence."""
_BY_MEMORY: Final = re.compile(r"(?P<size>[0-9]{1,6})GB(?P<more>\+?)", re.ASCII | re.IGNORECASE)
_FORM: Final = (
    "must be NAME or NAME:COUNT, or an amount of memory such as 80GB, 80GB+ or nvidia:80GB+:2"
)
_AMD: Final = re.compile(r"MI\d+|Radeon", re.IGNORECASE)

SHAPE: Final = Either(
    (Text(), Table(Number(above=0, most=10**6), nullable=True, least=1), Items(Text(), least=1))
)


@dataclass(frozen=True)
class Accelerator:
    """A kind of accelerator, and how many of it a node has."""

    name: str
    count: float = 1
    maker: str | None = None

    def __str__(self) -> str:
        head = f"{self.maker}:{self.name}" if self.maker else self.name
        return f"{head}:{self.count:g}"

    @property
    def devices(self) -> int:
        """Whole devices: a fraction takes one."""
        return math.ceil(self.count)

    @property
    def resource(self) -> str:
        """What Kubernetes counts it as."""
        if self.name.lower().startswith("tpu-"):
            return "google.com/tpu"
        if self.name.lower().startswith("gaudi"):
            return "habana.ai/gaudi"
        if (self.maker or "").lower() == "amd" or _AMD.match(self.name):
            return "amd.com/gpu"
        return "nvidia.com/gpu"


def parse(text: str) -> Accelerator:
    """One accelerator; ValueError says what is wrong."""
    match = _ONE.fullmatch(text)
    if match is None:
        raise ValueError(_FORM)
    name, count = match["name"], float(match["count"] or 1)
    by_memory = _BY_MEMORY.fullmatch(name)
    if by_memory is None and (name.endswith("+") or _NO_NAME.fullmatch(name)):
        raise ValueError(_FORM)
    if count <= 0:
        raise ValueError("the count must be greater than 0")
    return Accelerator(name.upper() if by_memory else name, count, match["maker"])


def candidates(value: Any) -> tuple[Accelerator, ...]:
    """All that would do, of a value that passed `errors`; a list is in order of preference."""
    if isinstance(value, str):
        return (parse(value),)
    if isinstance(value, list):
        return tuple(parse(item) for item in value)
    found = []
    for name, count in (value or {}).items():
        one = parse(name)
        found.append(one if count is None else Accelerator(one.name, float(count), one.maker))
    return tuple(found)


def is_alternative(value: Any) -> bool:
    """Whether it names several, of which one is to be chosen."""
    return not isinstance(value, str) and value is not None and len(value) > 1


def errors(value: Any, path: Path) -> Iterator[FieldError]:
    """What is wrong with the names, where the structure is right."""
    if isinstance(value, str):
        named: list[tuple[Any, str]] = [(path, value)]
    elif isinstance(value, list):
        named = [((*path, index), item) for index, item in enumerate(value)]
    else:
        named = [((*path, key_step(name)), name) for name in value]
    for place, text in named:
        try:
            parse(text)
        except ValueError as error:
            yield invalid(place, text, str(error))
    if isinstance(value, dict):
        for name, count in value.items():
            if count is not None and ":" in name.split("GB")[-1]:
                yield invalid((*path, key_step(name)), name, "the name already has a count")
