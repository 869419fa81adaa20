"""The section `clouds` of `config.yaml`: where machines are rented, and what is given there. Pure.

clouds:
  aws:
    regions: [us-east-1, us-west-2]
    enabled_regions: [eu-south-1]
    vpc: vpc-0a1b2c

What else a cloud takes is known to its provider, which is not loaded for this.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from trainway.schema.field import FieldError, Path, invalid, key_step
from trainway.schema.shape import Either, Flag, Items, Number, Table, Text

REGIONS: Final = "regions"
ENABLED: Final = "enabled_regions"
_NAME: Final = r"[a-z][-a-z0-9]{0,62}"
_REGION: Final = Text(r"[A-Za-z0-9][-A-Za-z0-9_ ]{0,62}", "must be the name of a region")
_VALUE: Final = Either((Text(), Number(), Flag(), Items(_REGION)))
SHAPE: Final = Table(Table(_VALUE, nullable=True), nullable=True, key=_NAME)


@dataclass(frozen=True)
class CloudSettings:
    """The section of one cloud."""

    regions: frozenset[str] = frozenset()
    """The only regions that are used where a task names none; empty: all."""
    enabled_regions: frozenset[str] = frozenset()
    """Regions that had to be enabled for the account, and are."""
    values: Mapping[str, str] = field(default_factory=dict)
    """What its provider gets: networks, key pairs and the like."""


def errors(section: Mapping[str, Any], path: Path) -> Iterator[FieldError]:
    """What is wrong besides the shape."""
    for cloud, settings in section.items():
        for name, value in (settings or {}).items():
            here = (*path, key_step(cloud), key_step(name))
            if (name in (REGIONS, ENABLED)) != isinstance(value, list) and value is not None:
                wanted = "a list of regions" if name in (REGIONS, ENABLED) else "one value"
                yield invalid(here, value, f"must be {wanted}")


def settings_of(section: Mapping[str, Any]) -> dict[str, CloudSettings]:
    """The settings of each cloud."""
    return {cloud: _settings(settings or {}) for cloud, settings in section.items()}


def _settings(section: Mapping[str, Any]) -> CloudSettings:
    values = {
        name: _text(value)
        for name, value in section.items()
        if value is not None and name not in (REGIONS, ENABLED)
    }
    return CloudSettings(
        frozenset(section.get(REGIONS) or ()), frozenset(section.get(ENABLED) or ()), values
    )


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
