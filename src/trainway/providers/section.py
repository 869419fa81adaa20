"""The section `clouds` of `config.yaml`: where machines are rented, and what is given there. Pure.

clouds:
  aws:
    regions: [us-east-1, us-west-2]
    enabled_regions: [eu-south-1]
    any: true
    vpc: vpc-0a1b2c
    unattended_minutes: 60
    shutdown_command: poweroff
    metadata_address: 169.254.169.254:80
    host_keys: given
    reservations:
    - {id: cr-0123456789abcdef0, instance_type: p5.48xlarge, zone: us-east-1a, count: 4}

What else a cloud takes is known to its provider, which is not loaded for this.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Final

from trainway.catalog import reservations
from trainway.catalog.reservations import RECORD, Reservation
from trainway.schema.field import FieldError, Path, invalid, key_step
from trainway.schema.shape import Either, Flag, Items, Number, Table, Text

REGIONS: Final = "regions"
ENABLED: Final = "enabled_regions"
UNATTENDED: Final = "unattended_minutes"
SHUTDOWN: Final = "shutdown_command"
METADATA: Final = "metadata_address"
HOST_KEYS: Final = "host_keys"
GIVEN: Final = "given"
TAKE_HOST_KEYS: Final = ("aws", "azure", "lambda")
"""The clouds whose machines can be given a host key, by user data."""
UNATTENDED_MINUTES: Final = 60.0
ANY: Final = "any"
RESERVATIONS: Final = "reservations"
_OURS: Final = (REGIONS, ENABLED, UNATTENDED, SHUTDOWN, METADATA, HOST_KEYS, ANY, RESERVATIONS)
"""What no provider gets."""
_LAST_PORT: Final = 65535
_NAME: Final = r"[a-z][-a-z0-9]{0,62}"
_REGION: Final = Text(r"[A-Za-z0-9][-A-Za-z0-9_ ]{0,62}", "must be the name of a region")
_VALUE: Final = Either((Text(), Number(), Flag(), Items(Either((_REGION, RECORD)))))
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
    unattended_minutes: float = UNATTENDED_MINUTES
    """How long a machine that has nothing to do waits for a server that is not heard."""
    shutdown_command: str = ""
    """What shuts a machine down, as a line of a shell; empty: what Linux has for it."""
    metadata_address: str = ""
    """Where spot machines ask whether they are about to be taken; empty: where clouds have it."""
    gives_host_keys: bool = False
    """Whether machines start with a host key of ours, so that the first contact is checked."""
    is_for_any: bool = False
    """Whether `--on any` may choose it, which costs money."""
    reservations: tuple[Reservation, ...] = ()
    """Machines that are paid for already; the first that will do is taken."""


def errors(section: Mapping[str, Any], path: Path) -> Iterator[FieldError]:
    """What is wrong besides the shape."""
    for cloud, settings in section.items():
        for name, value in (settings or {}).items():
            here = (*path, key_step(cloud), key_step(name))
            if name == RESERVATIONS:
                yield from reservations.errors(cloud, value or [], here)
            elif (name in (REGIONS, ENABLED)) != isinstance(value, list) and value is not None:
                wanted = "a list of regions" if name in (REGIONS, ENABLED) else "one value"
                yield invalid(here, value, f"must be {wanted}")
            elif name == UNATTENDED and value is not None and not _is_time(value):
                yield invalid(here, value, "must be a number of minutes above 0")
            elif name == SHUTDOWN and value is not None and not isinstance(value, str):
                yield invalid(here, value, "must be a line of a shell")
            elif name == METADATA and value is not None and not _is_address(value):
                yield invalid(here, value, "must be an IP address and a port: 169.254.169.254:80")
            elif name == HOST_KEYS and value not in (None, GIVEN, "own"):
                yield invalid(here, value, "must be given or own")
            elif name == HOST_KEYS and value == GIVEN and cloud not in TAKE_HOST_KEYS:
                which = ", ".join(TAKE_HOST_KEYS)
                yield invalid(here, value, f"can be given only to machines of {which}")
            elif name == ANY and not isinstance(value, bool | None):
                yield invalid(here, value, "must be true or false")
            elif isinstance(value, list) and not all(isinstance(each, str) for each in value):
                yield invalid(here, value, "must be a list of regions")


def settings_of(section: Mapping[str, Any]) -> dict[str, CloudSettings]:
    """The settings of each cloud."""
    return {cloud: _settings(cloud, settings or {}) for cloud, settings in section.items()}


def _settings(cloud: str, section: Mapping[str, Any]) -> CloudSettings:
    values = {
        name: _text(value)
        for name, value in section.items()
        if value is not None and name not in _OURS
    }
    return CloudSettings(
        frozenset(section.get(REGIONS) or ()),
        frozenset(section.get(ENABLED) or ()),
        values,
        float(section.get(UNATTENDED) or UNATTENDED_MINUTES),
        str(section.get(SHUTDOWN) or ""),
        str(section.get(METADATA) or ""),
        section.get(HOST_KEYS) == GIVEN,
        section.get(ANY) is True,
        reservations.reservations(cloud, section.get(RESERVATIONS)),
    )


def _is_address(value: object) -> bool:
    host, _, port = str(value).rpartition(":")
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return port.isdecimal() and 0 < int(port) <= _LAST_PORT


def _is_time(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 < float(str(value)) < math.inf


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
