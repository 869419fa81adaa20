"""How long tests wait for what must happen: far longer than it takes, since machines are busy."""

import time
from collections.abc import Callable
from typing import Final

PATIENCE_S: Final = 120.0


def until(
    condition: Callable[[], bool],
    failure: str,
    patience_s: float = PATIENCE_S,
    said: Callable[[], str] = str,
) -> None:
    """Wait for something that nobody reports; fail when it does not come."""
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, f"{failure}{said()}"
        time.sleep(0.02)
