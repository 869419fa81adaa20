"""Waits for several jobs at once, with one question for all of them, however many they are."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from trainway.errors import NotFoundError
from trainway.json_types import Json
from trainway.sdk.rest import Rest

_PAUSE_S: Final = 0.5
_PAGE: Final = 10_000


def ended(
    rest: Rest, jobs: Sequence[Json], sleep: Callable[[float], None] = time.sleep
) -> Iterator[Json]:
    """The jobs, each when it has ended; one that was deleted comes as it was known last."""
    left = {str(job["metadata"]["id"]): job for job in jobs}
    while True:
        active = _active(rest)
        for id_ in [id_ for id_ in left if id_ not in active]:
            known = left.pop(id_)
            try:
                yield rest.get(id_)
            except NotFoundError:
                yield known
        if not left:
            return
        sleep(_PAUSE_S)


def _active(rest: Rest) -> set[str]:
    """The ids of all jobs that have not ended."""
    found: set[str] = set()
    cursor = None
    while True:
        items, cursor = rest.page(limit=_PAGE, cursor=cursor, active=True, summary=True)
        found.update(str(item["metadata"]["id"]) for item in items)
        if cursor is None:
            return found
