"""What an hour of one node costs, as `config.yaml` says it. Pure.

prices:
  slurm/hpc: 1.20
  k8s: 2.50

A place that is not named costs what its family does, and nothing where neither is named.
"""

from collections.abc import Mapping
from typing import Any

from trainway.families.table import name_of


def price_of(prices: Mapping[str, Any], place: str) -> float | None:
    """The price of a place; None: nobody said."""
    found = prices.get(place, prices.get(name_of(place)))
    return None if found is None else float(found)
