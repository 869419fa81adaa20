"""Pauses between attempts at what fails, each twice as long as the one before."""

import asyncio
from typing import Final

FIRST_S = 0.1
LONGEST_S: Final = 5.0


class Backoff:
    """The pauses of one undertaking."""

    def __init__(self) -> None:
        self.pause_s = FIRST_S

    def next(self, longest_s: float = LONGEST_S) -> float:
        """The pause that is due now."""
        pause_s, self.pause_s = self.pause_s, min(self.pause_s * 2, longest_s)
        return pause_s

    async def wait(self, longest_s: float = LONGEST_S) -> None:
        """Let it pass."""
        await asyncio.sleep(self.next(longest_s))

    def reset(self) -> None:
        """Begin anew, after a success."""
        self.pause_s = FIRST_S
