import asyncio
import threading

import pytest

from trainway.backends.job_threads import JobThreads

PATIENCE_S = 60


def test_what_is_called_gives_its_value_or_raises() -> None:
    async def run() -> None:
        threads = JobThreads()
        assert await threads.run(divmod, 7, 2) == (3, 1)
        with pytest.raises(ZeroDivisionError):
            await threads.run(divmod, 7, 0)

    asyncio.run(run())


def test_so_many_run_at_once_and_no_more() -> None:
    gate, inside = threading.Event(), threading.Semaphore(0)
    running: list[str] = []

    def work() -> None:
        running.append(threading.current_thread().name)
        inside.release()
        gate.wait(PATIENCE_S)

    async def run() -> None:
        threads = JobThreads(2)
        tasks = [asyncio.create_task(threads.run(work)) for _ in range(5)]
        for _ in range(2):
            assert await asyncio.to_thread(inside.acquire, timeout=PATIENCE_S)
        assert len(set(running)) == len(running) == 2
        # The others wait, and whoever uses other threads does not.
        assert await asyncio.to_thread(lambda: "other") == "other"
        gate.set()
        await asyncio.gather(*tasks)
        assert len(running) == 5
        assert len(set(running)) == 2

    asyncio.run(run())


def test_a_thread_that_never_comes_back_holds_nobody_up() -> None:
    gate = threading.Event()

    async def run() -> None:
        threads = JobThreads(2)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await threads.run(gate.wait, PATIENCE_S)
        assert await threads.run(str, 1) == "1"

    try:
        asyncio.run(run())
    finally:
        gate.set()


def test_threads_that_have_nothing_to_do_are_used_again() -> None:
    async def run() -> None:
        threads = JobThreads()
        names = {await threads.run(lambda: threading.current_thread().name) for _ in range(20)}
        assert len(names) == 1

    asyncio.run(run())


def test_they_end_with_the_process() -> None:
    async def run() -> bool:
        return await JobThreads().run(lambda: threading.current_thread().daemon)

    assert asyncio.run(run())
