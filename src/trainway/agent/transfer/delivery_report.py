"""How far the files of a job are on their way to its hosts, told now and then.

Hundreds of megabytes take a while over SSH, and without a word the job would look stuck. With many
gigabytes there would be too many words: then it is told for every twentieth, or every minute.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LEAST = 20_000_000
"""How many bytes there must be for anything to be said."""
EVERY_SECONDS = 5.0
AT_LAST_SECONDS = 60.0
STEPS = 20
MEGABYTE = 1_000_000


class DeliveryReport:
    """What was told of each host."""

    def __init__(self, tell: Callable[[str], object], now: Callable[[], float]) -> None:
        self._tell = tell
        self._now = now
        self._told: dict[str, tuple[float, int]] = {}
        """When something was last said of a host, and how many bytes those were."""

    def on_progress(self, host: str, sent: int, size: int) -> None:
        """So many bytes for a host are on their way: say so at first, then every few seconds."""
        if size < LEAST:
            return
        now, is_over = self._now(), sent >= size
        if is_over or self._is_due(host, now, sent, size):
            self._told[host] = now, sent
            amount = "" if is_over else f"{sent // MEGABYTE} of "
            self._tell(f"{amount}{size // MEGABYTE} MB of files are on the way to host {host}")

    def _is_due(self, host: str, now: float, sent: int, size: int) -> bool:
        if host not in self._told:
            return True
        since, before = self._told[host]
        has_come_far = abs(sent - before) * STEPS >= size  # it may begin anew
        return now >= since + (EVERY_SECONDS if has_come_far else AT_LAST_SECONDS)
