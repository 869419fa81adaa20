import asyncio

from trainway.engine.changes import Changes


async def wait_and_notify() -> tuple[int, int]:
    changes = Changes()
    waiter = asyncio.create_task(changes.wait("a", seen=0))
    await asyncio.sleep(0)
    changes.notify("b")
    await asyncio.sleep(0)
    assert not waiter.done()
    changes.notify("a")
    return await waiter, changes.count("a")


def test_a_waiter_wakes_on_its_job_only() -> None:
    assert asyncio.run(wait_and_notify()) == (1, 1)


def test_what_was_missed_is_not_waited_for() -> None:
    async def run() -> int:
        changes = Changes()
        changes.notify("a")
        changes.notify("a")
        return await changes.wait("a", seen=1)

    assert asyncio.run(run()) == 2


def test_a_wait_can_end_without_a_change_and_leaves_nothing() -> None:
    async def run() -> tuple[int, object]:
        changes = Changes()
        return await changes.wait("a", seen=0, limit_s=0.001), changes._waiting

    assert asyncio.run(run()) == (0, {})
