import os
from collections.abc import Callable

import pytest

from trainway.agent.event_loop import EventLoop
from trainway.agent.pool.guarded_loop import GuardedLoop


def test_every_callback_goes_through_the_guard() -> None:
    guarded: list[str] = []

    def guard(callback: Callable[[], object]) -> None:
        try:
            callback()
        except ZeroDivisionError:
            guarded.append("failed")

    def fail() -> None:
        raise ZeroDivisionError

    loop = EventLoop()
    mine = GuardedLoop(loop, guard)
    reader, writer = os.pipe()
    os.write(writer, b"x")
    mine.watch(reader, on_readable=fail)
    mine.call_soon(fail)
    mine.call_later(0, fail)
    mine.call_later(0, fail).cancel()
    loop.turn()
    assert guarded == ["failed"] * 3
    mine.forget(reader)
    for fd in (reader, writer):
        os.close(fd)


def test_a_job_has_no_say_over_the_process() -> None:
    mine = GuardedLoop(EventLoop(), lambda callback: callback())
    for call in (mine.run, mine.stop, mine.turn, lambda: mine.on_signal(15, print)):
        with pytest.raises(NotImplementedError):
            call()
