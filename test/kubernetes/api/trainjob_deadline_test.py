"""The TrainJob controller on a real API server: when the time of a job is over."""

import pytest
from trainjob_world import World, trainjob

from trainway.jobset.status import moment
from trainway.kube.backoff import Backoff
from trainway.kube.resources import JOBSETS, TRAINJOBS
from trainway.operator.trainjobs.testing import Clock, Operator, eventually

SUSPENDED = ("Suspended", "True", "Suspended")
RESUMED = ("Suspended", "False", "Resumed")
DEADLINE = ("Failed", "True", "DeadlineExceeded")


def test_the_deadline_ends_a_job_and_deletes_its_jobset(world: World) -> None:
    clock = Clock()

    async def story(operator: Operator) -> None:
        spec = {"activeDeadlineSeconds": 60}
        await operator.create(trainjob(world.runtime("torch-distributed"), spec=spec))
        await operator.jobset("t")
        await operator.idle()
        assert await operator.conditions("t") == []
        clock.advance(61)
        operator.look("t")
        await operator.has_conditions("t", DEADLINE)
        await eventually(lambda: _is_gone(operator, "t"))
        await operator.idle()
        assert await operator.lookup(JOBSETS, "t") is None
        event = await operator.event("t", "DeadlineExceeded")
        assert event["message"] == "TrainJob exceeded its active deadline"

    world.run(story, clock=clock)


async def _is_gone(operator: Operator, name: str) -> bool:
    return await operator.lookup(JOBSETS, name) is None


def test_d15_a_deletion_that_did_not_happen_is_made_up_for(world: World) -> None:
    clock = Clock()

    async def story(operator: Operator) -> None:
        spec = {"activeDeadlineSeconds": 60}
        await operator.create(trainjob(world.runtime("torch-distributed"), spec=spec))
        await operator.jobset("t")
        await operator.kill()  # as if it died after the status was written
        condition = {"type": "Failed", "status": "True", "reason": "DeadlineExceeded"}
        condition |= {"message": "late", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        status = {"status": {"conditions": [condition]}}
        namespace = world.namespace
        await operator.client.patch(TRAINJOBS, "t", namespace, status, subresource="status")
        async with world.operator() as second:
            await eventually(lambda: _is_gone(second, "t"))
            assert await second.conditions("t") == [DEADLINE]

    world.run(story, clock=clock)


def test_a_job_past_its_deadline_gets_no_jobset(world: World) -> None:
    clock = Clock()

    async def story(operator: Operator) -> None:
        clock.advance(100)
        spec = {"activeDeadlineSeconds": 60}
        await operator.create(trainjob(world.runtime("torch-distributed"), spec=spec))
        await operator.has_conditions("t", DEADLINE)
        await operator.idle()
        assert (await operator.children())["JobSet"] == []

    world.run(story, clock=clock)


def test_a_job_that_cannot_be_built_keeps_to_its_deadline(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attempts to build it are further and further apart, and the deadline between them."""

    async def story(operator: Operator) -> None:
        rarely = Backoff(first=1000.0, longest=1000.0)
        monkeypatch.setattr(operator.controller.queue, "_backoff", rarely)
        created = await operator.create(trainjob("missing", spec={"activeDeadlineSeconds": 6}))
        await operator.has_conditions("t", DEADLINE)
        condition = (await operator.trainjob("t"))["status"]["conditions"][0]
        began = moment(created["metadata"]["creationTimestamp"])
        lasted = moment(condition["lastTransitionTime"]) - began
        assert lasted.total_seconds() >= 6

    world.run(story)


def test_the_deadline_counts_from_the_resume(world: World) -> None:
    clock = Clock()

    async def story(operator: Operator) -> None:
        spec = {"activeDeadlineSeconds": 600, "suspend": True}
        await operator.create(trainjob(world.runtime("torch-distributed"), spec=spec))
        await operator.has_conditions("t", SUSPENDED)
        clock.advance(1000)
        await operator.suspend("t", False)
        await operator.has_conditions("t", RESUMED)
        clock.advance(500)  # and what passes meanwhile
        operator.look("t")
        await operator.idle()
        assert await operator.conditions("t") == [RESUMED]
        clock.advance(101)
        operator.look("t")
        await operator.has_conditions("t", RESUMED, DEADLINE)

    world.run(story, clock=clock)
