"""The settings of a cloud in config.yaml: which there are, so that a wrong name is told."""

import math
from collections.abc import Mapping

from trainway.providers.errors import ProviderError, Scope, Trouble


def check(cloud: str, given: Mapping[str, str], known: Mapping[str, str]) -> None:
    """Raise that a setting is none of those the cloud has; `known` says what each is."""
    for name in given:
        if name not in known:
            raise ProviderError(
                f"clouds.{cloud}.{name}: there is no such setting",
                trouble=Trouble.INVALID,
                scope=Scope.CLOUD,
                hint=f"settings of {cloud}: {', '.join(sorted(known))}",
            )


def choice(cloud: str, given: Mapping[str, str], name: str, allowed: tuple[str, ...]) -> str:
    """One of a few words; the first is what holds if nothing is said."""
    value = str(given.get(name, allowed[0]))
    if value not in allowed:
        raise ProviderError(
            f"clouds.{cloud}.{name}: {value!r} is none of {', '.join(allowed)}",
            trouble=Trouble.INVALID,
            scope=Scope.CLOUD,
        )
    return value


def price_of(cloud: str, given: str) -> float:
    """What `spot_price` says, in dollars for an hour."""
    try:
        price = float(given)
    except ValueError:
        price = math.nan
    if not 0 < price < math.inf:
        raise ProviderError(
            f"clouds.{cloud}.spot_price: {given!r} is not a price",
            trouble=Trouble.INVALID,
            scope=Scope.CLOUD,
        )
    return price
