"""How long to wait before a call to a cloud is repeated, if it is."""

import random
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeVar

from trainway.providers.errors import ProviderError, Trouble

T = TypeVar("T")

ATTEMPTS: Final[Mapping[Trouble, int]] = {Trouble.THROTTLED: 6, Trouble.UNREACHABLE: 3}
"""How often a call is made in all; whatever else is wrong, it is wrong the next time too."""
FIRST_S: Final = 0.5


def pauses(trouble: Trouble, chance: Callable[[], float] = random.random) -> Iterator[float]:
    """The seconds between attempts: twice as many each time, and never the same for two callers."""
    for number in range(ATTEMPTS.get(trouble, 1) - 1):
        yield FIRST_S * 2**number * (0.5 + chance() / 2)


def repeated(
    call: Callable[[], T], pause: Callable[[float], None] = time.sleep, *, once: bool = False
) -> T:
    """Make a call until it works, or there is no point any more.

    `once`: it must not be done twice, so it is not repeated if nobody knows what became of it.
    """
    waits: dict[Trouble, Iterator[float]] = {}
    while True:
        try:
            return call()
        except ProviderError as error:
            if once and error.trouble is Trouble.UNREACHABLE:
                raise
            left = waits.setdefault(error.trouble, pauses(error.trouble))
            wait = next(left, None)
            if wait is None:
                raise
        pause(wait)
