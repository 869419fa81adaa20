from collections.abc import Callable

from trainway.agent.base.event_loop import EventLoop
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
    mine.call_soon(fail)
    mine.call_later(0, fail)
    mine.call_later(0, fail).cancel()
    loop.turn()
    assert guarded == ["failed"] * 2
