"""One-time codes: what a link to the dashboard carries, and is exchanged for a cookie once.

They are kept in memory alone, and as digests. A code that was used, or not used in time, is none.
"""

import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from trainway.server.tokens import digest

LIFE_S: Final = 120.0
_MOST: Final = 32


@dataclass(frozen=True)
class _Code:
    digest: str
    token: str
    """The digest of the server's token when the code was made: with that, the code ends too."""
    expires: float


class Codes:
    """The codes that nobody has used yet."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._codes: list[_Code] = []

    def make(self, token: str) -> str:
        """A new code."""
        code = secrets.token_urlsafe(32)
        made = _Code(digest(code), token, self._clock() + LIFE_S)
        self._codes = [*self._codes[1 - _MOST :], made]
        return code

    def use(self, code: str, token: str) -> bool:
        """Whether it is a code that may be used now; it cannot be used again."""
        wanted = digest(code)
        found = [each for each in self._codes if hmac.compare_digest(each.digest, wanted)]
        self._codes = [each for each in self._codes if each not in found]
        return any(
            each.expires > self._clock() and hmac.compare_digest(each.token, token)
            for each in found
        )

    def clear(self) -> None:
        """Let nobody use those that were made."""
        self._codes = []

    @property
    def is_empty(self) -> bool:
        """Whether there is none that somebody may still use."""
        return not any(each.expires > self._clock() for each in self._codes)
