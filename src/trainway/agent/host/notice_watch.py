"""Asks the cloud every few seconds whether it is about to take this machine, and tells who listens.

Only a spot machine does so, and only once its pool agent has said which cloud it belongs to. Each
pool agent that comes says it again, and is told again what was found.
"""

from __future__ import annotations

import os

from trainway.agent.host.metadata_request import MetadataRequest
from trainway.agent.host.spot_notice import ADDRESS, SOURCES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.base.event_loop import EventLoop, Timer
    from trainway.agent.host.metadata_request import Answer
    from trainway.agent.host.spot_notice import Finding, Inquiry
    from trainway.agent.transfer.frames import WatchNotices
    from trainway.agent.transfer.host_events import SpotNotice

SECONDS = 5.0
"""How often it is asked: clouds tell a machine half a minute ahead, or more."""
_LAST_PORT = 65535
_MOST = 200
"""How long a reason may be."""


class NoticeWatch:
    """Asks on behalf of this machine."""

    def __init__(
        self, loop: EventLoop, tell: Callable[[SpotNotice], None], seconds: float = SECONDS
    ) -> None:
        self._loop = loop
        self._tell = tell
        self._seconds = seconds
        self._asks: tuple[str, str, tuple[str, int]] | None = None
        self._inquiry: Inquiry | None = None
        self._request: MetadataRequest | None = None
        self._timer: Timer | None = None
        self._found: SpotNotice | None = None

    def begin(self, frame: WatchNotices) -> None:
        """Ask from now on; what is known already is told once more."""
        cloud = str(frame["cloud"])
        if cloud not in SOURCES:
            raise ValueError(f"{cloud!r} is no cloud whose machines are told")
        asks = (cloud, str(frame.get("machine") or ""), address_of(frame.get("address") or ""))
        if asks != self._asks:
            self._asks, self._found = asks, None
            self._stop()
            self._look()
        elif self._found is not None:
            self._tell(self._found)

    def close(self) -> None:
        """Ask no more."""
        self._asks = None
        self._stop()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._request is not None:
            self._request.close()

    def _look(self) -> None:
        if self._asks is not None:
            cloud, machine, _ = self._asks
            self._inquiry = inquiry = SOURCES[cloud](machine)
            self._go_on(inquiry, None)

    def _go_on(self, inquiry: Inquiry, answer: Answer | None) -> None:
        """Ask what comes next, unless the machine is another one by now."""
        if inquiry is not self._inquiry or self._asks is None:
            return
        try:
            question = inquiry.send(answer)
        except StopIteration as end:
            self._take(end.value)
        except (ValueError, TypeError, AttributeError):  # the answer makes no sense
            self._take(None)
        else:
            address = self._asks[2]
            self._request = MetadataRequest(
                self._loop, address, question, lambda given: self._go_on(inquiry, given)
            )

    def _take(self, found: Finding | None) -> None:
        """Remember what was found out; what is certain is the last word."""
        is_news = found is not None and (self._found is None or found.is_certain)
        if found is not None and is_news:
            self._found = {"event": "notice", "at": found.at, "why": found.why[:_MOST]}
            if not found.is_certain:
                self._found["risk"] = True
            os.write(2, f"the cloud says: {found.why[:_MOST]} {found.at}\n".encode())
            self._tell(self._found)
        if found is None or not found.is_certain:
            self._timer = self._loop.call_later(self._seconds, self._look)


def address_of(text: str) -> tuple[str, int]:
    """Where is asked: `ADDRESS:PORT`; empty: where clouds have it. A ValueError: it is none."""
    if not text:
        return ADDRESS
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) <= _LAST_PORT:
        raise ValueError(f"{text!r} is no address and port")
    return host.strip("[]"), int(port)
