import asyncio
from collections.abc import Awaitable, Callable

import pytest

from trainway.kube.backoff import Backoff
from trainway.kube.workqueue import WorkQueue


class _Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def _run(test: Callable[[WorkQueue, _Clock], Awaitable[None]]) -> None:
    async def main() -> None:
        clock = _Clock()
        queue = WorkQueue(clock, lambda: 1.0)
        try:
            await test(queue, clock)
        finally:
            queue.close()

    asyncio.run(main())


async def _drained(queue: WorkQueue) -> list[str]:
    taken = []
    while queue.depth:
        taken.append(await queue.take())
    return taken


def test_a_key_waits_once() -> None:
    async def test(queue: WorkQueue, clock: _Clock) -> None:
        for key in ("a", "b", "a", "b", "a"):
            queue.add(key)
        assert await _drained(queue) == ["a", "b"]

    _run(test)


def test_fresh_before_others_and_promoted() -> None:
    async def test(queue: WorkQueue, clock: _Clock) -> None:
        queue.add("a", fresh=False)
        queue.add("b", fresh=False)
        queue.add("c")
        queue.add("b")
        queue.add("c", fresh=False)
        assert await _drained(queue) == ["c", "b", "a"]

    _run(test)


def test_others_do_not_wait_for_ever() -> None:
    async def test(queue: WorkQueue, clock: _Clock) -> None:
        queue.add("old", fresh=False)
        for number in range(30):
            queue.add(str(number))
        assert (await _drained(queue)).index("old") == 16

    _run(test)


def test_one_worker_a_key() -> None:
    async def test(queue: WorkQueue, clock: _Clock) -> None:
        queue.add("a")
        assert await queue.take() == "a"
        queue.add("a", fresh=False)
        queue.add("a")
        assert queue.depth == 0
        queue.add("b")
        assert await queue.take() == "b"
        queue.done("a")
        assert await _drained(queue) == ["a"]
        queue.done("a")
        assert queue.depth == 0

    _run(test)


def test_a_key_added_while_worked_on_stays_fresh() -> None:
    async def test(queue: WorkQueue, clock: _Clock) -> None:
        queue.add("a")
        await queue.take()
        queue.add("a")
        queue.add("a", fresh=False)
        queue.add("b", fresh=False)
        queue.done("a")
        assert await _drained(queue) == ["a", "b"]

    _run(test)


def test_delayed_keys_come_when_they_are_due() -> None:
    async def test(queue: WorkQueue, clock: _Clock) -> None:
        queue.add_after("late", 20)
        queue.add_after("soon", 10)
        queue.add_after("late", 30)
        queue.add_after("soon", 5)
        assert (queue.depth, queue.delayed) == (0, 2)
        clock.now += 5
        assert await queue.take() == "soon"
        queue.done("soon")
        clock.now += 10
        queue.add("other")
        assert await queue.take() == "other"
        assert queue.depth == 0  # the second time of soon was void
        clock.now += 5
        assert await queue.take() == "late"
        assert queue.delayed == 0

    _run(test)


def test_no_delay_is_now() -> None:
    async def test(queue: WorkQueue, clock: _Clock) -> None:
        queue.add_after("a", 0)
        assert await _drained(queue) == ["a"]

    _run(test)


def test_retries_come_later_each_time_until_forgotten() -> None:
    async def test(queue: WorkQueue, clock: _Clock) -> None:
        pauses = []
        for _ in range(20):
            pauses.append(queue.retry("a"))
            clock.now += pauses[-1]
            assert await queue.take() == "a"
            queue.done("a")
        assert pauses[:4] == pytest.approx([0.005, 0.01, 0.02, 0.04])
        assert pauses[-1] == 1000
        assert queue.failures("a") == 20
        queue.forget("a")
        assert queue.retry("a") == pytest.approx(0.005)

    _run(test)


def test_a_taker_sleeps_until_a_delayed_key_is_due() -> None:
    async def main() -> None:
        queue = WorkQueue(chance=lambda: 1.0, backoff=Backoff(0.01, 0.01))
        taker = asyncio.create_task(queue.take())
        await asyncio.sleep(0)
        queue.retry("a")
        async with asyncio.timeout(60):
            assert await taker == "a"

    asyncio.run(main())


def test_a_cancelled_taker_hands_its_key_on() -> None:
    async def test(queue: WorkQueue, clock: _Clock) -> None:
        first = asyncio.create_task(queue.take())
        second = asyncio.create_task(queue.take())
        await asyncio.sleep(0)
        queue.add("a")
        first.cancel()
        async with asyncio.timeout(60):
            assert await second == "a"
        assert first.cancelled()

    _run(test)


def test_a_taker_cancelled_before_a_key_comes() -> None:
    async def test(queue: WorkQueue, clock: _Clock) -> None:
        first = asyncio.create_task(queue.take())
        second = asyncio.create_task(queue.take())
        await asyncio.sleep(0)
        first.cancel()
        queue.add("a")
        async with asyncio.timeout(60):
            assert await second == "a"
        with pytest.raises(asyncio.CancelledError):
            await first
        queue.add("b")
        assert await queue.take() == "b"

    _run(test)


def test_many_takers_get_each_key_once() -> None:
    async def test(queue: WorkQueue, clock: _Clock) -> None:
        takers = [asyncio.create_task(queue.take()) for _ in range(5)]
        await asyncio.sleep(0)
        for key in "abcde":
            queue.add(key)
        async with asyncio.timeout(60):
            assert sorted(await asyncio.gather(*takers)) == list("abcde")

    _run(test)


def test_age_of_the_oldest() -> None:
    async def test(queue: WorkQueue, clock: _Clock) -> None:
        assert queue.oldest_age() == 0
        queue.add("a", fresh=False)
        clock.now += 7
        queue.add("b")
        assert queue.oldest_age() == 7
        await queue.take()
        await queue.take()
        assert queue.oldest_age() == 0

    _run(test)


def test_what_is_measured_of_a_queue() -> None:
    async def test(queue: WorkQueue, clock: _Clock) -> None:
        waited: list[float] = []
        queue.on_taken = waited.append
        queue.add("a", fresh=False)
        queue.add("a")
        queue.add("b")
        clock.now += 2
        assert await queue.take() == "a"
        clock.now += 3
        assert await queue.take() == "b"
        clock.now += 1
        queue.add("b")
        assert (queue.adds, waited, queue.ages_of_work()) == (2, [2, 5], [4, 1])
        queue.done("b")
        assert (queue.adds, queue.ages_of_work()) == (3, [4])
        queue.retry("a")
        assert queue.retries == 1

    _run(test)
