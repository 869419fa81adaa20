"""How long tests wait for what must happen: far longer than it takes, since machines are busy."""

import time
from collections.abc import Callable
from typing import Final

PATIENCE_S: Final = 120.0
SHORTEST_S: Final = 0.02
LONGEST_S: Final = 1.0
REST: Final = 3
"""A look that starts a process takes the processor from what is waited for: so much is left."""


def until(
    condition: Callable[[], bool],
    failure: str,
    patience_s: float = PATIENCE_S,
    said: Callable[[], str] = str,
) -> None:
    """Wait for something that nobody reports; fail when it does not come."""
    began = time.monotonic()
    deadline = began + patience_s
    while not condition():
        looked = time.monotonic()
        assert looked < deadline, f"{failure}{said()}"
        time.sleep(min(max(SHORTEST_S, REST * (looked - began)), LONGEST_S))
        began = time.monotonic()
