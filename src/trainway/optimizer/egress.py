"""What it costs to take data out of a region. Pure.

Within a region it costs nothing. To another region of the same cloud it has one price, and to
anywhere else a price that falls with the amount: each tier counts for what is in it, so that more
data never costs less. Monthly allowances are left out, since nobody knows who has used them up.
Clouds that are not named here take no money for it, or do not say how much.
"""

from collections.abc import Mapping, Sequence
from typing import Final

_TB: Final = 1024
_REST: Final = float("inf")
_OUT: Final[Mapping[str, Sequence[tuple[float, float]]]] = {
    "aws": ((10 * _TB, 0.09), (50 * _TB, 0.085), (150 * _TB, 0.07), (_REST, 0.05)),
    "azure": (
        (10 * _TB, 0.087), (50 * _TB, 0.083), (150 * _TB, 0.07), (500 * _TB, 0.05), (_REST, 0.05),
    ),
    "gcp": ((1 * _TB, 0.12), (10 * _TB, 0.11), (_REST, 0.08)),
    "oci": ((10 * _TB, 0), (_REST, 0.0085)),
    "ibm": ((50 * _TB, 0.09), (150 * _TB, 0.07), (_REST, 0.05)),
}  # fmt: skip
"""Up to how many GB in all, and the price of each of them."""
_BETWEEN_REGIONS: Final[Mapping[str, float]] = {"aws": 0.02, "azure": 0.02, "gcp": 0.02}
_GIGABYTES_AN_HOUR: Final = 10 / 8 * 3600
"""Between regions and clouds: 10 Gbit/s."""


def out_of_cloud(cloud: str, gigabytes: float) -> float:
    """What a cloud takes for data that leaves it, in dollars."""
    total, below = 0.0, 0.0
    for limit, price in _OUT.get(cloud, ()):
        total += max(min(gigabytes, limit) - below, 0) * price
        below = limit
    return total


def between_regions(cloud: str, gigabytes: float) -> float:
    """What a cloud takes for data that goes to another region of it, in dollars."""
    return min(_BETWEEN_REGIONS.get(cloud, 0) * gigabytes, out_of_cloud(cloud, gigabytes))


def hours(gigabytes: float) -> float:
    """How long data is on its way between two regions."""
    return gigabytes / _GIGABYTES_AN_HOUR
