"""When a job counts as hung: the one rule of the operator and of the engine. Pure."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Final

from trainway.jobset.labels import HANG_TIMEOUT

LONGEST_S: Final = 10 * 365 * 24 * 3600


def time_left(timeout: timedelta, silences: Iterable[timedelta]) -> timedelta:
    """How long until a job hangs whose signs of life are that old; not above 0: it hangs.

    Any sign counts: a job that writes logs is alive although it reports nothing.
    """
    return timeout - min(silences)


def hang_timeout(annotations: Mapping[str, object]) -> timedelta | None:
    """How long a job may be silent; None: as long as it likes, or the annotation is no number."""
    text = str(annotations.get(HANG_TIMEOUT) or "")
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:12]) <= LONGEST_S):
        return None
    return timedelta(seconds=int(text[:12]))
