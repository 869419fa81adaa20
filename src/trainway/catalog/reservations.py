"""Machines that were reserved at a cloud, and are paid for whether they run or not. Pure.

clouds:
  aws:
    reservations:
    - {id: cr-0123456789abcdef0, instance_type: p5.48xlarge, zone: us-east-1a, count: 4}
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainway.schema.field import FieldError, Path, invalid
from trainway.schema.shape import POSITIVE, Items, Record, Text, check

_NAME: Final = Text(r"[A-Za-z0-9][-A-Za-z0-9_.:/ ]{0,255}", "must be a name")
RECORD: Final = Record(
    {"id": _NAME, "instance_type": _NAME, "region": _NAME, "zone": _NAME, "count": POSITIVE},
    needs=("id", "instance_type", "count"),
)
SHAPE: Final = Items(RECORD)
_REGION: Final[Mapping[str, str]] = {"aws": r"(.*[0-9])[a-z]", "gcp": r"(.*)-[a-z]"}
"""How the name of a zone tells its region."""


@dataclass(frozen=True)
class Reservation:
    """Machines of one type in one place."""

    id: str
    """What the cloud calls it."""
    cloud: str
    instance_type: str
    region: str
    zone: str
    """Empty: any zone of the region."""
    count: int


def errors(cloud: str, items: Any, path: Path) -> Iterator[FieldError]:
    """What is wrong with the reservations of a cloud."""
    if isinstance(items, list) and any(isinstance(each, str) for each in items):
        detail = (
            "must say what it is, as in"
            " {id: cr-1, instance_type: p5.48xlarge, zone: us-east-1a, count: 4}"
        )
        yield invalid(path, items, detail)
        return
    found = list(check(SHAPE, items, path))
    yield from found
    if found:
        return
    seen = set[str]()
    for index, each in enumerate(items):
        if not _region(cloud, each):
            detail = "must have region, since its zone does not tell it"
            yield invalid((*path, index), each, detail)
        if each["id"] in seen:
            yield invalid((*path, index, "id"), each["id"], "is there twice")
        seen.add(each["id"])


def reservations(cloud: str, items: Any) -> tuple[Reservation, ...]:
    """The reservations of a cloud that have no errors."""
    return tuple(
        Reservation(
            *(each["id"], cloud, each["instance_type"], _region(cloud, each)),
            *(each.get("zone") or "", int(each["count"])),
        )
        for each in items or ()
    )


def _region(cloud: str, item: Mapping[str, Any]) -> str:
    if item.get("region"):
        return str(item["region"])
    found = re.fullmatch(_REGION.get(cloud, "(?!)"), item.get("zone") or "")
    return found[1] if found else ""
