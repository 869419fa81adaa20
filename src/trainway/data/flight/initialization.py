"""`cache://` as the dataset of an initializer: nothing is fetched, the job waits for its cache.

Kubeflow's initializer starts a cache for each TrainJob, and ends well even if that failed. Here a
cache is shared and was applied before (`trainway cache apply`); the initializer ends when all of
its rows can be read, and fails, with the reason, when that does not happen in time.
"""

import re
from collections.abc import Mapping
from typing import Final

from trainway.data.flight.contract import ADDRESS, TOKEN
from trainway.errors import NotFoundError, UnavailableError, UsageError

SCHEME: Final = "cache://"
PATIENCE_S: Final = 600.0
_PLACE: Final = re.compile(r"[A-Za-z0-9._-]+:[0-9]{1,5}/?")


def cache_address(uri: str, environment: Mapping[str, str]) -> str:
    """Which cache a URI means: its own address, or the one that the job was told."""
    place = uri.removeprefix(SCHEME)
    if _PLACE.fullmatch(place):
        return uri
    if not place:
        raise UsageError(f"{uri} names no cache", hint="write cache://HOST:PORT")
    told = environment.get(ADDRESS)
    if not told:
        raise NotFoundError(
            f"nobody said which cache has {uri}",
            hint=f"write cache://HOST:PORT, or set {ADDRESS}; trainway cache ls shows addresses",
        )
    return told


def await_cache(uri: str, environment: Mapping[str, str], patience_s: float = PATIENCE_S) -> int:
    """Wait until a cache can be read, and give the number of its rows."""
    address = cache_address(uri, environment)
    try:
        from trainway.data.flight.client import cached_rows  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise UnavailableError(
            f"{uri} cannot be read: {error.name} is missing", hint="pip install 'trainway[cache]'"
        ) from None
    rows = cached_rows(address, environment.get(TOKEN, ""))
    rows.patience_s = patience_s
    count = rows.count
    rows.close()
    return count
