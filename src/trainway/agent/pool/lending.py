"""Hands credentials that expire soon to the rented machines of a pool.

They are kept in memory only, for machines that connect anew; a server gives others before they
expire, and again to an agent that has started since.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainway.agent.transfer.frames import Lend
    from trainway.json_types import Json


class Lending:
    """What was lent last. `pool` is the agent; see `pool.py` for what it offers."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool
        self._last: Lend | None = None

    def take(self, request: Json) -> None:
        """Give these to all machines, now and when they connect."""
        self._last = {
            "op": "lend",
            "files": dict(request["files"]),
            "variables": dict(request["variables"]),
        }
        for host in self._pool.hosts():
            self.give(host)

    def give(self, host: Any) -> None:
        """Give a machine what was lent last, if anything was."""
        if self._last is not None:
            host.send(self._last)
