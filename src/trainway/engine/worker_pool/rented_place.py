"""Where machines were rented for a job, as a label of it: its worker pool is gone by its end.

A job that is submitted once more has machines rented for it at the same place. Pure.
"""

from collections.abc import Mapping
from typing import Final

from trainway.families.builtin import WORKERS
from trainway.jobset.labels import RENTED_PLACE, USE_SPOT

_ANY: Final = "*"
_ANY_WORD: Final = "any"
"""A label has neither stars nor slashes."""


def place_label(place: str) -> dict[str, str]:
    """The label of a job that is for a place: `aws.us-east-1`."""
    parts = (_ANY_WORD if part == _ANY else part for part in place.split("/"))
    return {RENTED_PLACE: ".".join(parts)}


def spot_label(*, use_spot: bool) -> dict[str, str]:
    """The label of a job whose machines are spot machines, wherever they are rented."""
    return {USE_SPOT: "true"} if use_spot else {}


def is_on_spot(labels: Mapping[str, str]) -> bool:
    """Whether the machines of a job with these labels are spot machines."""
    return labels.get(USE_SPOT) == "true"


def place_again(backend: str, labels: Mapping[str, str]) -> str:
    """Where a job goes that is submitted once more."""
    told = labels.get(RENTED_PLACE, "")
    if not told or not backend.startswith(f"{WORKERS}/"):
        return backend
    return "/".join(_ANY if part == _ANY_WORD else part for part in told.split("."))
