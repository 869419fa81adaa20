"""Which part of the world a region is in, told by its name, to prefer what is near. Pure."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

HOME: Final = "us"
"""Where somebody is who does not say it."""
_BEGINNINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "us": ("us", "nyc", "sfo"),
    "ca": ("ca-", "canada", "northamerica-northeast", "tor"),
    "eu": ("eu", "uk", "france", "germany", "norway", "sweden", "switzerland", "fin-"),
    "ap": ("ap-", "asia", "australia", "japan", "korea", "india", "jp-", "au-"),
    "sa": ("sa-", "southamerica", "brazil", "br-"),
    "me": ("me-", "il-", "uae", "qatar"),
    "af": ("af-", "africa", "southafrica"),
}
_ENDINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "us": ("us", "us2", "us3", ", us, na"),
    "ca": (", ca, na",),
    "eu": (", eu",),
    "ap": (", as",),
}
_COUNTRIES: Final[Mapping[str, tuple[str, ...]]] = {
    "ca": ("ca",),
    "eu": ("cz", "de", "dk", "fi", "fr", "gb", "is", "nl", "no", "ro", "se"),
    "ap": ("au", "in", "jp", "kr", "sg"),
}
"""Where a region is no more than a country."""
PARTS: Final = tuple(_BEGINNINGS)


@lru_cache(maxsize=1024)  # a plan asks for hundreds of regions, for each of its tasks
def part_of_the_world(region: str) -> str:
    """The part of the world a region is in; empty: its name does not say."""
    name = region.lower()
    for part in PARTS:
        is_there = (
            name.startswith(_BEGINNINGS[part])
            or name.endswith(_ENDINGS.get(part, ()))
            or name in _COUNTRIES.get(part, ())
        )
        if is_there:
            return part
    return ""
