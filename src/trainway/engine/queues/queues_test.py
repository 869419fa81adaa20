"""Managed queues in an engine, with a backend that the test plays."""

import asyncio
import json
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest

from trainway.backends.testing import FakeBackend, FakeJob
from trainway.engine.queues.making_room import PREEMPTED
from trainway.engine.testing import World, act, play, told
from trainway.engine.times import time_text
from trainway.errors import ConflictError, InvalidError, NotFoundError, UsageError
from trainway.json_types import Json
from trainway.queueing.queue_policy import QueueState

SUSPENDED: Json = {
    "type": "status",
    "jobset": {
        "conditions": [
            {"type": "Suspended", "status": "True", "lastTransitionTime": "2026-11-15T07:00:00Z"}
        ]
    },
}


def queue(name: str = "team", **spec: Any) -> Json:
    metadata = {"name": name}
    return {"apiVersion": "trainway.dev/v1", "kind": "Queue", "metadata": metadata, "spec": spec}


def names(jobs: list[Json]) -> list[str]:
    return [job["name"] for job in jobs]


def test_there_is_always_a_queue() -> None:
    async def scene(world: World) -> None:
        (only,) = world.engine.queues.all()
        assert (only["metadata"]["name"], only["spec"]) == ("default", {})
        with pytest.raises(ConflictError, match="cannot be deleted"):
            await world.engine.queues.delete("default")
        await world.engine.queues.apply(queue("default", quota={"jobs": 1}))
        await world.submit("first")
        await world.submit("second")
        waiting = await world.until("second", "Queued")
        assert waiting["status"]["reason"] == "QuotaReached"
        assert waiting["status"]["message"].startswith(
            "Queue default uses 1 of its 1 running job, and this job needs 1."
        )
        await world.engine.queues.apply(queue("default"))
        await world.until("second", "Starting")

    play(scene)


def test_the_life_of_a_queue() -> None:
    async def scene(world: World) -> None:
        queues = world.engine.queues
        made = await queues.apply(queue(quota={"cpu": 2, "memory": "1Gi"}, weight=3))
        assert made["spec"] == {"quota": {"cpu": "2", "memory": "1Gi"}, "weight": 3}
        first = await world.begun(await world.submit("a", queue="team", requests={"cpu": "2"}))
        await world.submit("b", queue="team", requests={"cpu": "1"})
        await world.submit("c", queue="team", requests={"cpu": "1"}, priority=1)
        await world.until("b", "Queued")
        shown = queues.get("team")["status"]
        assert (shown["state"], shown["running"], shown["waiting"]) == ("Open", 1, 2)
        assert shown["used"] == {"cpu": "2", "jobs": 1, "memory": "0"}
        assert names(shown["jobs"]) == ["c", "b"]
        assert [job["position"] for job in shown["jobs"]] == [1, 2]
        assert "c is ahead in queue team" in shown["jobs"][1]["message"]
        await queues.set_state("team", QueueState.PAUSED)
        first.end()
        await world.until("a", "Succeeded")
        await world.until("c", lambda job: job["status"]["reason"] == "QueuePaused")
        await queues.apply(queue(quota={"cpu": 2}))
        assert queues.get("team")["status"]["state"] == "Paused"
        with pytest.raises(ConflictError, match="queue team still has 2 jobs, such as b"):
            await queues.delete("team")
        await queues.set_state("team", QueueState.DRAINING)
        with pytest.raises(ConflictError, match="Queue team is being drained"):
            await world.submit("d", queue="team")
        for name in ("c", "b"):
            await world.until(name, "Starting")
            await world.engine.cancel(name)
            (await world.begun((await world.engine.reading.get(name))["metadata"]["id"])).end(
                succeeded=False, reason="Cancelled"
            )
            await world.until(name, "Cancelled")
        await queues.delete("team")
        with pytest.raises(NotFoundError, match="there is no queue 'teem'"):
            await world.submit("d", queue="teem")
        assert await world.engine.reading.counts() == (0, 3)

    play(scene)


def test_what_is_wrong_with_a_queue_is_told_by_field() -> None:
    async def scene(world: World) -> None:
        wrong = queue(quota={"cpu": "many", "gpu": 1.5}, weight=0)
        with pytest.raises(InvalidError) as raised:
            await world.engine.queues.apply(wrong)
        assert len(raised.value.lines) == 1
        assert raised.value.lines[0].startswith("Queue/team: spec.weight: Invalid value: 0")
        wrong = queue(quota={"cpu": "many", "gpu": 1.5})
        with pytest.raises(InvalidError) as raised:
            await world.engine.queues.apply(wrong)
        assert [line.split(": ")[1] for line in raised.value.lines] == [
            "spec.quota.cpu",
            "spec.quota.gpu",
        ]
        with pytest.raises(InvalidError, match="needs a cohort"):
            await world.engine.queues.apply(queue(quota={"gpu": 1}, borrowing={"gpu": 1}))
        with pytest.raises(InvalidError, match="is no resource of queues"):
            await world.engine.queues.apply(queue(quota={"tpu": 1}))

    play(scene)


def test_what_a_suspended_job_has_used_it_has_used() -> None:
    async def scene(world: World) -> None:
        gpu = {"nvidia.com/gpu": "1"}
        await world.engine.queues.apply(queue(quota={"gpu": 1}, gpuHoursPerMonth=1))
        job = await world.begun(await world.submit(queue="team", requests=gpu))
        job.run()
        await world.until("demo", "Running")
        world.now += timedelta(hours=2)
        await world.engine.suspend("demo")
        await told(job, "suspend")
        job.records.append({"seq": 1, "time": time_text(world.now), **SUSPENDED})
        job.changed.set()
        await world.until("demo", "Paused")
        await world.submit("next", queue="team", requests=gpu)
        waits = await world.until("next", "Queued")
        assert waits["status"]["reason"] == "GPUHoursSpent"
        assert world.engine.queues.get("team")["status"]["gpuHoursUsed"] == 2.0
        await world.engine.resume("demo")
        await world.until("demo", lambda each: each["status"]["reason"] == "GPUHoursSpent")

    asyncio.run(act(scene, World(FakeBackend(gpus=1))))


def test_queues_and_what_was_used_outlive_a_server() -> None:
    async def before(world: World) -> None:
        await world.engine.queues.apply(queue(quota={"gpu": 1}, gpuHoursPerMonth=1))
        await world.engine.queues.set_state("team", QueueState.PAUSED)
        await world.engine.queues.set_state("team", QueueState.OPEN)
        job = await world.begun(await world.submit(queue="team", requests={"nvidia.com/gpu": "1"}))
        job.run()
        await world.until("demo", "Running")
        record = {"succeeded": True, "reason": "AllJobsCompleted", "message": "x"}
        world.now += timedelta(hours=2)
        job.records.append({"seq": 1, "time": time_text(world.now), "type": "end", **record})
        job.changed.set()
        await world.until("demo", "Succeeded")
        assert world.engine.queues.get("team")["status"]["gpuHoursUsed"] == 2.0

    async def after(world: World) -> None:
        found = world.engine.queues.get("team")
        assert found["status"]["gpuHoursUsed"] == 2.0
        await world.submit("next", queue="team", requests={"nvidia.com/gpu": "1"})
        waits = await world.until("next", "Queued")
        assert waits["status"]["reason"] == "GPUHoursSpent"

    async def run() -> None:
        first = World(FakeBackend(gpus=1))
        with patch.object(first.store, "close"):  # the next one goes on with it
            await act(before, first)
        await act(after, World(FakeBackend(gpus=1), first.store))

    asyncio.run(run())


def test_a_job_that_is_set_goes_by_that_in_the_next_round() -> None:
    async def scene(world: World) -> None:
        await world.engine.queues.apply(queue())
        first = await world.begun(await world.submit("first", requests={"cpu": "4"}))
        second = await world.submit("second", requests={"cpu": "4"})
        third = await world.submit("third", requests={"cpu": "4"})
        view = await world.engine.setting.set("third", 7, "team")
        assert (view["spec"]["priority"], view["spec"]["queue"]) == (7, "team")
        assert world.store.get(third).priority == 7
        first.end()
        await world.begun(third)
        assert second not in world.backend.jobs
        assert "Changed" in await world.reasons(third)
        with pytest.raises(UsageError, match="between -1000 and 1000"):
            await world.engine.setting.set("second", 1001, None)
        with pytest.raises(UsageError, match="nothing to change"):
            await world.engine.setting.set("second", None, None)
        with pytest.raises(NotFoundError, match="no queue"):
            await world.engine.setting.set("second", None, "nowhere")
        with pytest.raises(ConflictError, match="already ended"):
            await world.engine.setting.set("first", 1, None)

    play(scene)


async def preempted(world: World) -> tuple[str, str]:
    """A job that was told to make room, and the one that it is for."""
    await world.engine.queues.apply(queue("default", preemption="Any"))
    low = await world.submit("low", requests={"cpu": "4"}, priority=-1)
    (await world.begun(low)).run()
    await world.until(low, "Running")
    high = await world.submit("high", requests={"cpu": "2"})
    await world.until(high, lambda job: job["status"]["reason"] == "Preempting")
    await told(world.backend.jobs[low], "suspend")
    return low, high


def leave(job: FakeJob) -> None:
    """Let the agent suspend a job, and its pod end."""
    job.suspend()
    job.write("pod", pod="node-0-0", attempt=0, phase="Failed", deleted=True, containers=[])


def test_nobody_starts_before_the_processes_of_who_makes_room_are_gone() -> None:
    async def scene(world: World) -> None:
        low, high = await preempted(world)
        job = world.backend.jobs[low]
        job.suspend()
        await world.until(low, lambda _: world.store.get(low).journal_seq == len(job.records) - 1)
        await world.engine.queues.apply(queue())  # another round
        await world.submit("after", requests={"cpu": "1"})
        assert high not in world.backend.jobs
        assert (await world.engine.reading.get(low))["status"]["phase"] == "Running"
        job.write("pod", pod="node-0-0", attempt=0, phase="Failed", deleted=True, containers=[])
        await world.begun(high)

    play(scene)


def test_a_job_makes_room_waits_and_goes_on() -> None:
    async def scene(world: World) -> None:
        low, high = await preempted(world)
        status = (await world.engine.reading.get(high))["status"]
        assert "needs 2 CPUs, 0 free" in status["message"]
        assert "it starts as soon as low makes room for it, which has begun" in status["message"]
        assert high not in world.backend.jobs
        left, waits = world.backend.jobs[low], world.engine.reading
        leave(left)
        began = await world.begun(high)
        status = (await world.until(low, "Queued"))["status"]
        assert status["reason"] == PREEMPTED
        assert status["message"].startswith(f"it made room for high ({high})")
        assert (await waits.get(low))["status"]["queuePosition"] == 1
        began.end()
        await world.until(low, "Starting")
        await told(left, "resume")
        left.suspend("False")
        await world.until(low, "Running")
        assert left.asked == ["suspend", "resume"]
        assert world.store.get(low).making_room is None
        assert "Preempting" in await world.reasons(low)

    play(scene)


def test_the_owner_of_a_job_that_makes_room_may_suspend_or_cancel_it() -> None:
    async def scene(world: World) -> None:
        low, high = await preempted(world)
        assert (await world.engine.resume(low))["status"]["phase"] == "Running"
        await world.engine.suspend(low)
        world.backend.jobs[low].suspend()
        await world.until(low, "Paused")
        (await world.begun(high)).end()
        await world.until(high, "Succeeded")
        assert (await world.engine.reading.get(low))["status"]["phase"] == "Paused"
        await world.engine.resume(low)
        await world.until(low, "Starting")
        await world.engine.cancel(low)
        world.backend.jobs[low].end(succeeded=False, reason="Cancelled")
        await world.until(low, "Cancelled")

    play(scene)


@pytest.mark.parametrize("is_suspended", [False, True])
def test_preemption_goes_on_after_the_server_was_killed(is_suspended: bool) -> None:
    """Between any two writes: after the wish, and after the agent has said that it is done."""
    ids: list[str] = []

    async def before(world: World) -> None:
        ids.extend(await preempted(world))

    async def after(world: World) -> None:
        low, high = ids
        job = world.backend.jobs[low]
        if not is_suspended:
            await told(job, "suspend", 2)  # nobody knows whether the first was heard
            leave(job)
        (await world.begun(high)).end()
        await world.until(low, "Starting")
        await told(job, "resume")
        job.suspend("False")
        await world.until(low, "Running")
        assert (await world.engine.reading.get(high))["status"]["phase"] == "Succeeded"

    async def run() -> None:
        first = World()
        with patch.object(first.store, "close"):  # the next one goes on with it
            await act(before, first)
        if is_suspended:
            leave(first.backend.jobs[ids[0]])
        await act(after, World(first.backend, first.store))

    asyncio.run(run())


def test_a_gang_is_never_preempted_for_nothing() -> None:
    async def scene(world: World) -> None:
        await world.engine.queues.apply(queue("default", preemption="Any"))
        for name, priority in (("low", -1), ("high", 1)):
            job_id = await world.submit(name, requests={"cpu": "2"}, priority=priority)
            (await world.begun(job_id)).run()
            await world.until(job_id, "Running")
        await world.submit("big", requests={"cpu": "4"})
        status = (await world.until("big", "Queued"))["status"]
        assert "makes room" not in status["message"]
        assert all("suspend" not in job.asked for job in world.backend.jobs.values())

    play(scene)


def test_a_requeued_job_goes_behind_those_that_came_meanwhile() -> None:
    async def scene(world: World) -> None:
        await world.engine.queues.apply(queue("default", preemption="Any", eviction="Requeue"))
        low = await world.submit("low", requests={"cpu": "4"}, priority=-1)
        (await world.begun(low)).run()
        await world.until(low, "Running")
        other = await world.submit("other", requests={"cpu": "4"}, priority=-1)
        world.now = world.now.replace(hour=6)
        high = await world.submit("high", requests={"cpu": "4"})
        await told(world.backend.jobs[low], "suspend")
        leave(world.backend.jobs[low])
        (await world.begun(high)).end()
        await world.begun(other)
        assert world.store.get(low).phase == "Queued"

    play(scene)


def test_a_backend_that_schedules_gets_a_job_only_if_its_queue_has_room() -> None:
    class Slurm(FakeBackend):
        name = "slurm/test"
        schedules = True

    async def scene(world: World) -> None:
        backend = Slurm()
        world.engine.registry.put(backend)
        world.backend = backend
        await world.engine.queues.apply(queue(quota={"jobs": 1}))
        first = await world.submit("first", queue="team", backend="slurm/test")
        begun = await world.begun(first)
        second = await world.submit("second", queue="team", backend="slurm/test")
        waiting = await world.until(second, "Queued")
        assert waiting["status"]["reason"] == "QuotaReached"
        third = await world.submit("third", backend="slurm/test")
        await world.begun(third)
        begun.end()
        await world.begun(second)

    play(scene)


def test_gpus_of_a_type_have_a_quota_of_their_own() -> None:
    async def scene(world: World) -> None:
        await world.engine.queues.apply(queue("default", quota={"gpu:H100": 1}))
        wants = {"node": {"candidates": [{"accelerators": "H100:1"}]}}
        metadata = {"annotations": {"trainway.dev/candidates": json.dumps(wants)}}
        requests = {"nvidia.com/gpu": "1"}
        await world.begun(await world.submit("first", requests=requests, metadata=metadata))
        await world.begun(await world.submit("any", requests=requests))
        await world.submit("second", requests=requests, metadata=metadata)
        status = (await world.until("second", "Queued"))["status"]
        assert status["message"].startswith("Queue default uses 1 of its 1 GPU of type H100")
        assert world.engine.queues.get("default")["status"]["used"]["gpu:H100"] == 1

    async def run() -> None:
        await act(scene, World(FakeBackend(gpus=4)))

    asyncio.run(run())


def test_the_label_of_a_job_names_its_queue_and_its_pods_have_the_grace_of_that() -> None:
    async def scene(world: World) -> None:
        await world.engine.queues.apply(queue(gracePeriodSeconds=7))
        labels = {"trainway.dev/queue": "team"}
        job_id = await world.submit(labels=labels)
        job = await world.begun(job_id)
        (role,) = job.workload.jobset["spec"]["replicatedJobs"]
        pod = role["template"]["spec"]["template"]["spec"]
        assert pod["terminationGracePeriodSeconds"] == 1  # its own
        assert (await world.engine.reading.get(job_id))["spec"]["queue"] == "team"

    play(scene)
