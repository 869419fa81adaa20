"""How far the files of a job are on their way to its hosts, told now and then.

Hundreds of megabytes take a while over SSH, and without a word the job would look stuck.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LEAST = 20_000_000
"""How many bytes there must be for anything to be said."""
EVERY_SECONDS = 5.0
MEGABYTE = 1_000_000


class DeliveryReport:
    """What was told of each host."""

    def __init__(self, tell: Callable[[str], object], now: Callable[[], float]) -> None:
        self._tell = tell
        self._now = now
        self._told: dict[str, float] = {}
        """When something was last said of a host."""

    def on_progress(self, host: str, sent: int, size: int) -> None:
        """So many bytes for a host are on their way: say so at first, then every few seconds."""
        if size < LEAST:
            return
        now, is_over = self._now(), sent >= size
        if is_over or now >= self._told.get(host, -EVERY_SECONDS) + EVERY_SECONDS:
            self._told[host] = now
            amount = "" if is_over else f"{sent // MEGABYTE} of "
            self._tell(f"{amount}{size // MEGABYTE} MB of files are on the way to host {host}")
