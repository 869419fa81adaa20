"""Identifiers of jobs: twelve characters whose order is that in which they were made.

41 bits of milliseconds since 2020, then 19 random bits, in an alphabet without letters that look
like digits. Ids of the same millisecond count up, so that one server never makes one twice and a
later job always sorts behind an earlier one, also where the clock was set back meanwhile.
"""

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH: Final = 12
_EPOCH: Final = datetime(2020, 1, 1, tzinfo=UTC)
_RANDOM_BITS: Final = 19


class Ids:
    """Makes ids."""

    def __init__(
        self,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        random: Callable[[int], int] = secrets.randbits,
    ) -> None:
        self._clock = clock
        self._random = random
        self._last = 0

    def follow(self, newest: str) -> None:
        """Go on behind an id that an earlier server made; what is none is left alone."""
        if len(newest) == LENGTH and set(newest) <= set(ALPHABET):
            self._last = max(self._last, _number(newest))

    def new(self) -> str:
        """An id behind all that were made or followed here before."""
        milliseconds = int((self._clock() - _EPOCH).total_seconds() * 1000)
        number = milliseconds << _RANDOM_BITS | self._random(_RANDOM_BITS)
        self._last = max(number, self._last + 1)
        return _text(self._last)


def before(moment: datetime) -> str:
    """A text in front of the ids of all jobs made since that moment, and behind all others."""
    milliseconds = int((moment - _EPOCH).total_seconds() * 1000)
    most = (1 << 5 * LENGTH) - 1
    return _text(min(max((milliseconds << _RANDOM_BITS) - 1, 0), most))


def _text(number: int) -> str:
    digits = [ALPHABET[number >> 5 * place & 31] for place in reversed(range(LENGTH))]
    return "".join(digits)


def _number(text: str) -> int:
    number = 0
    for digit in text:
        number = number << 5 | ALPHABET.index(digit)
    return number
