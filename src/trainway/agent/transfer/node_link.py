"""A feed on a node, and the mirror here that it fills: a step beside those of the job's pods."""

from __future__ import annotations

import json
import os

from trainway.agent.transfer.program import Program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from trainway.agent.base.event_loop import EventLoop
    from trainway.agent.transfer.feed_frames import BeginFeed, FeedOrder, FeedStart
    from trainway.agent.transfer.mirror import Mirror
    from trainway.json_types import Json

PING_SECONDS = 2.0
"""How often a feed hears that it is still wanted."""


class NodeLink:
    """One node, as long as its step runs."""

    def __init__(
        self,
        node: str,
        mirror: Mirror,
        *,
        on_frame: Callable[[NodeLink, Json], None],
        on_end: Callable[[NodeLink, str], None],
    ) -> None:
        self.node = node
        self._mirror = mirror
        self._on_frame = on_frame
        self._on_end = on_end
        self._received: list[bytes] = []
        self._program: Program | None = None

    def start(
        self, loop: EventLoop, argv: Sequence[str], env: Mapping[str, str], told: FeedStart
    ) -> None:
        """Start it, and tell it something besides what is here; OSError: there is no srun."""
        position = self._mirror.position()
        begin: BeginFeed = {
            "op": "begin",
            "logs": position["logs"],
            "outputs": position["outputs"],
            **told,
        }
        self._program = Program(loop, argv, env=env, on_output=self._take, on_end=self._end)
        self.order(begin)
        self._ping(loop)

    def _ping(self, loop: EventLoop) -> None:
        if self._program is not None:
            self.order({"op": "ping"})
            loop.call_later(PING_SECONDS, lambda: self._ping(loop))

    @property
    def is_open(self) -> bool:
        """Whether it runs."""
        return self._program is not None

    def order(self, order: FeedOrder) -> None:
        """Tell the feed something."""
        if self._program is not None:
            self._program.write(json.dumps(order).encode() + b"\n")

    def kill(self) -> None:
        """End it; nothing more is written here."""
        program, self._program = self._program, None
        self._mirror.forget(self.node)
        if program is not None:
            program.close()

    def _take(self, data: bytes) -> None:
        first, *others = data.split(b"\n")
        self._received.append(first)
        for other in others:
            line, self._received = b"".join(self._received), [other]
            try:
                frame = json.loads(line)
                event = frame["event"]
            except (ValueError, KeyError, TypeError):
                os.write(2, line + b"\n")  # something of the cluster's own
                continue
            if not self._mirror.take(self.node, frame):
                self._give_up()
                return
            if event == "over":
                self.order({"op": "clear"})
            self._on_frame(self, frame)

    def _give_up(self) -> None:
        """End it, so that whoever made it makes another one, which begins where this one failed."""
        if self._program is not None:
            self._program.give_up()

    def _end(self, _status: int | None, errors: bytes) -> None:
        self._program = None
        self._mirror.forget(self.node)
        self._on_end(self, errors.decode("utf-8", "replace"))
