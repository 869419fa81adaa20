"""Tasks of a pipeline whose places are chosen when their turn comes."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import pytest

from trainway.backends.testing import FakeBackend
from trainway.engine.faulty_store import locked
from trainway.engine.moving.choosing import CHOOSING
from trainway.engine.moving.testing import HERE, THERE, MovingWorld
from trainway.engine.run.pipeline_testing import pipeline, submitted
from trainway.engine.submission import Submission
from trainway.engine.testing import act, jobset
from trainway.errors import ConflictError, UsageError
from trainway.jobset.labels import TASK
from trainway.json_types import Json

Scene = Callable[[MovingWorld], Awaitable[None]]
BOTH = {"places": [HERE, THERE], "prefer": "order"}


def play(scene: Scene) -> None:
    async def run() -> None:
        world = MovingWorld()
        await act(lambda _: scene(world), world)

    asyncio.run(run())


def placed(placement: dict[str, Json] | None = None, **more: Any) -> Submission:
    """The chain, sent for both places."""
    chain = pipeline()
    other = {"backend": THERE, "objects": list(chain.objects)}
    wanted = {"two": BOTH, "one": {"places": [HERE], "prefer": "order"}}
    wanted["three"] = {"places": [THERE], "prefer": "cost"}
    return pipeline(
        candidates=[other], placement=wanted if placement is None else placement, **more
    )


async def ended(world: MovingWorld, at: FakeBackend, id_: str) -> None:
    """Let a task run at a place, and succeed there."""
    world.backend = at
    job = await world.begun(id_)
    job.run()
    job.end()
    await world.until(id_, "Succeeded")


def test_a_task_goes_where_there_is_room_when_its_turn_comes() -> None:
    async def scene(world: MovingWorld) -> None:
        ids = await submitted(world, placed())
        assert world.store.get(ids["three"]).backend == THERE
        two = world.store.get(ids["two"])
        assert (two.backend, two.message) == (HERE, "it waits for one")
        with pytest.raises(ConflictError, match="is chosen when its turn comes"):
            await world.engine.moves.move(ids["two"], THERE)
        await world.begun(ids["one"])
        world.here.problem = "it is being rebuilt"
        await ended(world, world.here, ids["one"])
        await ended(world, world.there, ids["two"])
        assert (world.store.get(ids["two"]).backend, ids["two"] in world.here.jobs) == (
            THERE,
            False,
        )
        said = [event.message for event in await world.engine.reading.events(ids["two"])]
        assert f"{THERE} was chosen: it does not tell how much room it has" in said
        await ended(world, world.there, ids["three"])
        assert (world.here.ports, world.there.ports) == (set(), set())

    play(scene)


def test_a_place_that_refuses_the_chosen_task_is_followed_by_the_next() -> None:
    async def scene(world: MovingWorld) -> None:
        ids = await submitted(world, placed({}))
        await ended(world, world.here, ids["one"])
        world.here.refuses = "no processes"
        await ended(world, world.there, ids["two"])
        assert "MovingOn" in await world.reasons(ids["two"])

    play(scene)


def test_places_are_asked_again_until_one_takes_the_task() -> None:
    async def scene(world: MovingWorld) -> None:
        ids = await submitted(world, placed())
        await world.begun(ids["one"])
        world.here.problem = world.there.unreachable = "it is away"
        await ended(world, world.here, ids["one"])
        told = "no place takes it now, and all are asked again: "
        job = await world.until(ids["two"], lambda each: each["status"]["message"].startswith(told))
        assert f"{THERE}: it is away" in job["status"]["message"]
        world.there.unreachable = ""
        await ended(world, world.there, ids["two"])

    play(scene)


def test_a_task_that_is_cancelled_or_suspended_gets_no_place() -> None:
    async def scene(world: MovingWorld) -> None:
        ids = await submitted(world, placed())
        await world.begun(ids["one"])
        world.here.problem = world.there.unreachable = "it is away"
        await ended(world, world.here, ids["one"])
        await world.until(ids["two"], lambda each: "asked again" in each["status"]["message"])
        await world.engine.suspend(ids["two"])
        world.here.problem = ""
        await world.until(ids["two"], "Paused")
        await world.engine.resume(ids["two"])
        await world.begun(ids["two"])
        await world.engine.cancel(ids["two"])

    play(scene)


def test_the_next_server_chooses() -> None:
    async def both() -> None:
        first = MovingWorld()
        await first.engine.start()
        ids = await submitted(first, placed())
        await first.begun(ids["one"])
        first.here.problem = first.there.unreachable = "it is away"
        await ended(first, first.here, ids["one"])
        await first.until(ids["two"], lambda each: each["status"]["message"] != CHOOSING)
        for live in list(first.engine._live.values()):
            await live.detach()
        first.there.unreachable = ""
        second = MovingWorld(first)
        await act(lambda _: ended(second, second.there, ids["two"]), second)

    asyncio.run(both())


def test_a_choice_that_could_not_be_written_is_made_again() -> None:
    async def scene(world: MovingWorld) -> None:
        ids = await submitted(world, placed())
        await world.begun(ids["one"])
        world.here.problem = "it is being rebuilt"
        write, failed = world.store.update_all, list[bool]()

        def update_all(changes: Any, **more: Any) -> None:
            if any("backend" in each.columns for each in changes) and not failed:
                failed.append(True)
                raise locked()
            write(changes, **more)

        with patch.object(world.store, "update_all", update_all):
            await ended(world, world.here, ids["one"])
            await ended(world, world.there, ids["two"])
        assert failed
        await ended(world, world.there, ids["three"])
        assert (world.here.ports, world.there.ports) == (set(), set())

    play(scene)


@dataclass(frozen=True)
class Case:
    name: str
    placement: dict[str, Json]
    said: str


@pytest.mark.parametrize(
    "case",
    [
        Case("task", {"tow": BOTH}, "there is no task tow"),
        Case("place", {"two": {"places": ["k8s"], "prefer": "order"}}, "was not sent for k8s"),
    ],
    ids=lambda case: case.name,
)
def test_what_nobody_can_place_is_refused(case: Case) -> None:
    async def scene(world: MovingWorld) -> None:
        with pytest.raises(UsageError, match=case.said):
            await submitted(world, placed(case.placement))

    play(scene)


def test_pipelines_that_differ_from_place_to_place_are_refused() -> None:
    async def scene(world: MovingWorld) -> None:
        short = pipeline("name: p\n---\n{name: one, run: x}\n---\n{name: two, run: x}")
        other = {"backend": THERE, "objects": list(short.objects)}
        with pytest.raises(UsageError, match="pipelines of their own"):
            await submitted(world, pipeline(candidates=[other]))

    play(scene)


def test_the_place_of_a_single_job_can_be_chosen_in_its_turn_too() -> None:
    async def scene(world: MovingWorld) -> None:
        other = {"backend": THERE, "objects": [jobset("demo")]}
        wanted = Submission([jobset("demo")], backend=HERE, candidates=[other], prefer="order")
        job, _ = await world.engine.submit(wanted)
        await ended(world, world.here, job["metadata"]["id"])
        assert "Placed" in await world.reasons(job["metadata"]["id"])

    play(scene)


def test_a_task_that_never_had_a_place_keeps_all_of_them_when_it_is_submitted_again() -> None:
    async def scene(world: MovingWorld) -> None:
        ids = await submitted(world, placed())
        job = await world.begun(ids["one"])
        job.run()
        job.end(succeeded=False)
        await world.until(ids["two"], "Cancelled")
        made = await world.engine.runs.replace_from("p", "one")
        new = {each["metadata"]["labels"][TASK]: each["metadata"]["id"] for each in made.jobs}
        await world.begun(new["one"])
        world.here.problem = "it is being rebuilt"
        await ended(world, world.here, new["one"])
        await ended(world, world.there, new["two"])
        await ended(world, world.there, new["three"])
        again = await world.engine.runs.replace_from("p", "two")
        assert again.jobs[0]["spec"]["backend"] == THERE

    play(scene)
