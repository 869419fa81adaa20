import asyncio

import pytest

from trainway.sdk import AsyncClient, JobFailedError, WaitTimeoutError
from trainway.sdk.testing import FakeServer


def test_everything_can_be_awaited(fake: FakeServer) -> None:
    async def main() -> None:
        client = AsyncClient()
        job = await client.run({"kind": "JobSet", "metadata": {"name": "a"}})
        data = fake.jobs[job.id]
        fake.event(data, "Created")
        fake.log(data, "one")
        assert (job.name, job.done(), await job.status()) == ("a", False, "Pending")
        assert [line.text async for line in job.logs()] == ["one"]
        assert [event["reason"] for event in await job.events()] == ["Created"]
        assert await job.metrics() == {}
        assert await job.last_metrics() == {}
        await job.suspend()
        await job.resume()
        again = await job.rerun()
        await again.delete()
        asyncio.get_running_loop().call_later(0.01, fake.update, data, "Succeeded")
        assert await job.wait() == "Succeeded"
        assert await job.result() is None
        assert await job.exception() is None
        assert [item.name for item in await client.jobs()] == ["a"]
        several = await client.run_array({"kind": "JobSet", "metadata": {"name": "b"}}, 2)
        assert [item.name for item in several] == ["b-0", "b-1"]
        assert (await client.job("a")).id == job.id
        assert (await client.runtimes(), await client.backends()) == ([], [])

    asyncio.run(main())


def test_a_failure_is_raised(fake: FakeServer) -> None:
    async def main() -> None:
        fake.add_job("a", "Running")
        job = await AsyncClient().job("a")
        await job.cancel()
        with pytest.raises(JobFailedError):
            await job.result()

    asyncio.run(main())


def test_waiting_and_following_end_with_their_task(fake: FakeServer) -> None:
    async def main() -> None:
        job = await AsyncClient().job("a")
        with pytest.raises(WaitTimeoutError, match=r"a has not ended after 0\.05 s"):
            await job.wait(timeout=0.05)

        async def follow() -> None:
            async for _ in job.logs(follow=True):
                started.set()

        started = asyncio.Event()
        task = asyncio.create_task(follow())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    fake.log(fake.add_job("a", "Running"), "one")
    asyncio.run(asyncio.wait_for(main(), 60))
