"""On which terms machines are rented: what is not part of the task itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trainway.providers.section import CloudSettings


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How machines are to be rented."""

    public_key: str
    """The key, as a line of `authorized_keys`, with which the server gets in by ssh."""
    clouds: frozenset[str] | None = None
    """The clouds that may be used; None: all that have a provider."""
    max_hourly_cost: float | None = None
    """Of all nodes together, in dollars."""
    retry_until_up: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    ports: Sequence[str] = ()
    image: str = ""
    """Empty: the provider's choice."""
    images: Mapping[str, str] = field(default_factory=dict)
    """An image for each region, where they differ."""
    disk_gib: int = 0
    """0: the provider's choice."""
    disk_tier: str = ""
    fast_network: bool = False
    """Whether machines must be connected by a network for gangs."""
    reservation: str = ""
    """Empty: the first of `settings` that will do, if any."""
    ends_by_shutdown: bool = True
    """Whether a machine that shuts itself down is ended; otherwise it is stopped."""
    settings: Mapping[str, CloudSettings] = field(default_factory=dict)
    """By cloud."""
