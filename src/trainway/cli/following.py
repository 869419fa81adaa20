"""Follows a job to its end: its state and its logs, as they come, into a view.

Ctrl-C belongs to whoever runs the command and not to the job, which runs elsewhere. So it asks:
leave the job alone, cancel it, or go on. Without a terminal to ask at, a second one cancels.
"""

import queue
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from trainway.cli.interrupts import Interrupts
from trainway.cli.output import echo_line
from trainway.cli.views import View
from trainway.json_types import Json
from trainway.sdk.log_line import LogLine
from trainway.sdk.rest import LogQuery, Rest, is_terminal
from trainway.sdk.transport import StreamControl

_BATCH: Final = 1000
_QUEUED: Final = 1 << 21
"""How many characters of log lines may wait to be shown; a reader who is slower than the job slows
the stream, not it."""
_ITEM: Final = 256
"""How many characters anything counts for beside its text."""


class Outcome(Enum):
    """How following ended."""

    ENDED = "ended"
    DETACHED = "detached"
    CANCELLED = "cancelled"
    """The job was cancelled by whoever follows it, and has ended."""


class Answer(Enum):
    """What to do after Ctrl-C."""

    GO_ON = "go on"
    DETACH = "detach"
    CANCEL = "cancel"


@dataclass(frozen=True)
class _Done:
    """A stream is over, perhaps with an error."""

    error: BaseException | None = None


_Item = LogLine | Json | _Done


class _Items(queue.Queue[_Item]):
    """What is to be shown; it is full when it is large, however few items that are."""

    def _init(self, maxsize: int) -> None:
        super()._init(maxsize)
        self._size = 0

    def _qsize(self) -> int:
        return self._size

    def _put(self, item: _Item) -> None:
        super()._put(item)
        self._size += _weight(item)

    def _get(self) -> _Item:
        item = super()._get()
        self._size -= _weight(item)
        return item


def _weight(item: _Item) -> int:
    return _ITEM + (len(item.text) if isinstance(item, LogLine) else 0)


class Following:
    """A job that somebody looks at."""

    def __init__(
        self, rest: Rest, job: Json, view: View, ask: Callable[[], Answer] | None = None
    ) -> None:
        self.job = job
        self._rest = rest
        self._view = view
        self._ask = ask or Question()
        self._control = StreamControl()
        self._items = _Items(_QUEUED)
        self._open_streams = 0
        self._is_cancelled = False
        self._interrupts = Interrupts()

    def run(self) -> Outcome:
        """Show everything until the job has ended, or nobody wants to see more."""
        self._view.job(self.job)
        id_ = self.job["metadata"]["id"]
        query = LogQuery(follow=True, all_attempts=True)
        self._start(lambda: self._rest.watch(id_, self._control))
        self._start(lambda: self._rest.logs(id_, query, self._control))
        try:
            with self._interrupts:
                while self._open_streams:
                    try:
                        items = self._interrupts.hear(self._next_items)
                    except KeyboardInterrupt:
                        if is_terminal(self.job):
                            break
                        if not self._goes_on():
                            return Outcome.DETACHED
                    else:
                        self._show(items)
        finally:
            self._control.stop()
            self._view.close()
        by_us = self._is_cancelled and self.job["status"]["phase"] == "Cancelled"
        return Outcome.CANCELLED if by_us else Outcome.ENDED

    def _start(self, stream: Callable[[], Iterable[LogLine | Json]]) -> None:
        def read() -> None:
            try:
                for item in stream():
                    self._items.put(item)
            except BaseException as error:  # noqa: BLE001 - raised again where the view is
                self._items.put(_Done(error))
            else:
                self._items.put(_Done())

        self._open_streams += 1
        threading.Thread(target=read, daemon=True).start()

    def _next_items(self) -> list[_Item]:
        items = [self._items.get()]
        while len(items) < _BATCH and not self._items.empty():
            items.append(self._items.get_nowait())
        return items

    def _show(self, items: list[_Item]) -> None:
        lines = [item for item in items if isinstance(item, LogLine)]
        if lines:
            self._view.logs(lines)
        for item in items:
            if isinstance(item, dict):
                self.job = item
                self._view.job(item)
            elif isinstance(item, _Done):
                self._open_streams -= 1
                if item.error is not None and not is_terminal(self.job):
                    raise item.error

    def _goes_on(self) -> bool:
        """Ask what Ctrl-C means; False: leave the job alone and go."""
        if self._is_cancelled:
            return False
        self._view.close()
        try:
            answer = self._interrupts.hear(self._ask)
        except KeyboardInterrupt:
            answer = Answer.CANCEL
        if answer is Answer.CANCEL:
            self._is_cancelled = True
            echo_line("cancelling the job; press Ctrl-C again to leave")
            self._start(self._cancel)
        return answer is not Answer.DETACH

    def _cancel(self) -> Iterable[Json]:
        """A stream of nothing, which is over when no process of the job is left."""
        self._rest.act(self.job["metadata"]["id"], "cancel")
        return ()


class Question:
    """Asks at the terminal; without one, the second Ctrl-C is the answer."""

    def __init__(self) -> None:
        self._warned = False

    def __call__(self) -> Answer:
        """What to do now."""
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            if self._warned:
                return Answer.CANCEL
            self._warned = True
            echo_line("the job keeps running; press Ctrl-C again to cancel it")
            return Answer.GO_ON
        sys.stderr.write("\nd: detach, c: cancel the job, Enter: continue > ")
        sys.stderr.flush()
        typed = sys.stdin.readline()
        if not typed:
            return Answer.DETACH
        return {"d": Answer.DETACH, "c": Answer.CANCEL}.get(typed.strip().lower()[:1], Answer.GO_ON)
