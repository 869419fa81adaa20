"""Pipelines in the engine: tasks start in their order, whichever server is there to see it."""

import asyncio
from dataclasses import replace

import pytest

from trainway.backends.base import Isolation
from trainway.backends.testing import FakeBackend
from trainway.engine.run.pipeline_testing import end, pipeline, submitted
from trainway.engine.submission import Submission
from trainway.engine.testing import World, act, jobset, memory_store, play
from trainway.errors import ConflictError, InvalidError, NotFoundError, UsageError
from trainway.jobset.labels import RUN, TASK
from trainway.json_types import Json

FORK = """\
name: p
---
{name: a, run: 'true', depends_on: [first]}
---
{name: b, run: 'true', depends_on: [first]}
---
{name: first, run: 'true', secrets: {KEY: hidden}}
---
{name: last, run: 'true', depends_on: [a, b], secrets: {KEY: other}}
"""


def tasks(run: Json) -> dict[str, Json]:
    return {job["metadata"]["labels"][TASK]: job for job in run["jobs"]}


def phases(run: Json) -> dict[str, str]:
    return {name: job["status"]["phase"] for name, job in tasks(run).items()}


async def until_told(world: World, id_: str, message: str) -> None:
    await world.until(id_, lambda job: job["status"]["message"] == message)


def test_tasks_run_one_after_the_other() -> None:
    async def scene(world: World) -> None:
        ids = await submitted(world, pipeline())
        run = await world.engine.runs.get("p")
        assert [job["metadata"]["name"] for job in run["jobs"]] == ["p-one", "p-two", "p-three"]
        assert run["pipeline"]["tasks"][2] == {"name": "three", "after": ["two"]}
        assert run["jobs"][0]["metadata"]["labels"] == {RUN: "p", TASK: "one"}
        await until_told(world, ids["three"], "it waits for two")
        for name in ("one", "two", "three"):
            await world.begun(ids[name])
            assert set(world.backend.jobs) == {
                id_ for task, id_ in ids.items() if list(ids).index(task) <= list(ids).index(name)
            }
            await end(world, ids[name])
        run = await world.engine.runs.get("p")
        assert run["status"]["phase"] == "Succeeded"
        assert world.is_idle()

    play(scene)


def test_a_failed_task_ends_the_pipeline() -> None:
    async def scene(world: World) -> None:
        ids = await submitted(world, pipeline())
        await end(world, ids["one"], failed=True)
        last = await world.until(ids["three"], "Cancelled")
        assert last["status"]["reason"] == "DependencyFailed"
        assert last["status"]["message"] == "one failed, so it was not started"
        assert "DependencyFailed" in await world.reasons(ids["two"])
        run = await world.engine.runs.get("p")
        assert phases(run) == {"one": "Failed", "two": "Cancelled", "three": "Cancelled"}
        assert run["status"]["phase"] == "Failed"
        assert set(world.backend.jobs) == {ids["one"]}

    play(scene)


def test_branches_run_side_by_side() -> None:
    async def scene(world: World) -> None:
        ids = await submitted(world, pipeline(FORK))
        await until_told(world, ids["last"], "it waits for a and b")
        await end(world, ids["first"])
        await world.begun(ids["b"])
        await end(world, ids["a"])
        await until_told(world, ids["last"], "it waits for b")
        await end(world, ids["b"])
        await end(world, ids["last"])

    play(scene)


def test_each_task_has_its_own_secrets() -> None:
    async def scene(world: World) -> None:
        ids = await submitted(world, pipeline(FORK))
        spec = await world.engine.reading.spec(ids["last"])
        (secret,) = spec.companions
        assert secret["metadata"]["name"] == "p-last-secrets"
        assert secret["stringData"] == {"KEY": "other"}
        assert "hidden" not in str(spec)
        without = await world.engine.reading.spec(ids["a"])
        assert without.companions == []
        (role,) = without.jobset["spec"]["replicatedJobs"]
        assert role["name"] == "a"

    play(scene)


def test_the_next_server_goes_on() -> None:
    store, backend = memory_store(), FakeBackend()
    ids: dict[str, str] = {}

    async def first(world: World) -> None:
        ids.update(await submitted(world, pipeline(key="k")))
        await world.begun(ids["one"])

    async def second(world: World) -> None:
        assert await submitted(world, pipeline(key="k")) == ids
        assert set(backend.jobs) == {ids["one"]}
        await end(world, ids["one"])
        await world.begun(ids["two"])

    async def third(world: World) -> None:
        await end(world, ids["two"], failed=True)
        await world.until(ids["three"], "Cancelled")

    async def all_of_them() -> None:
        # The store is closed with an engine, so a server is killed by leaving its jobs alone.
        for scene in (first, second):
            world = World(backend, store)
            await world.engine.start()
            await scene(world)
            for live in list(world.engine._live.values()):
                await live.detach()
        await act(third, World(backend, store))

    asyncio.run(all_of_them())


def test_an_end_that_nobody_saw_counts_for_the_next_server() -> None:
    """The first task failed, and the server was killed before it ended the others."""
    store, backend = memory_store(), FakeBackend()

    async def both() -> None:
        world = World(backend, store)
        await world.engine.start()
        ids = await submitted(world, pipeline())
        await world.begun(ids["one"])
        for live in list(world.engine._live.values()):
            await live.detach()
        store.update(ids["one"], {"phase": "Failed", "finished": "2026-11-15T05:00:00Z"})

        async def next_one(world: World) -> None:
            last = await world.until(ids["three"], "Cancelled")
            assert last["status"]["message"] == "one failed, so it was not started"

        await act(next_one, World(backend, store))

    asyncio.run(both())


def test_a_task_that_is_deleted_takes_the_later_ones_along() -> None:
    async def scene(world: World) -> None:
        ids = await submitted(world, pipeline())
        await world.engine.delete(ids["two"])
        last = await world.until(ids["three"], "Cancelled")
        assert last["status"]["message"] in {
            "two was cancelled, so it was not started",
            "two was deleted, so it was not started",
        }
        await end(world, ids["one"])

    play(scene)


READER = """\
name: p
---
{name: one, run: 'true'}
---
{name: two, envs: {DATA: "${tasks.one.output}/x"}, run: "ls ${tasks.one.output}"}
---
{name: three, run: "ls ${tasks.one.output} ${tasks.two.output}"}
"""


async def command(world: World, id_: str) -> str:
    """The last word of the command of a task."""
    spec = await world.engine.reading.spec(id_)
    (role,) = spec.jobset["spec"]["replicatedJobs"]
    (container,) = role["template"]["spec"]["template"]["spec"]["containers"]
    assert "tasks." in str(spec.objects), "the objects stay as they were written"
    return str(container["command"][-1])


def test_an_output_is_where_its_task_has_written_it() -> None:
    async def scene(world: World) -> None:
        ids = await submitted(world, pipeline(READER))
        assert await command(world, ids["two"]) == f"ls /jobs/{ids['one']}/output"
        spec = await world.engine.reading.spec(ids["two"])
        assert f"'/jobs/{ids['one']}/output/x'" in str(spec.jobset)
        for name in ids:
            await end(world, ids[name])
        made = await world.engine.runs.replace_from("p", "two")
        assert [job["metadata"]["labels"][TASK] for job in made.jobs] == ["two", "three"]
        new = {job["metadata"]["labels"][TASK]: job["metadata"]["id"] for job in made.run["jobs"]}
        assert new["one"] == ids["one"]
        assert await command(world, new["two"]) == f"ls /jobs/{ids['one']}/output"
        outputs = f"/jobs/{ids['one']}/output /jobs/{new['two']}/output"
        assert await command(world, new["three"]) == f"ls {outputs}"
        await until_told(world, new["three"], "it waits for two")
        await end(world, new["two"])
        await end(world, new["three"])
        run = await world.engine.runs.get("p")
        assert run["status"] == {"phase": "Succeeded", "phases": {"Succeeded": 3}}

    play(scene)


def test_where_outputs_cannot_be_read_nothing_is_submitted() -> None:
    async def scene(world: World) -> None:
        contained = replace(pipeline(READER), isolation=Isolation.CONTAINER)
        with pytest.raises(InvalidError) as raised:
            await world.engine.submit_array(contained)
        assert raised.value.lines[0] == (
            "two: envs.DATA: ${tasks.one.output}: a task in a container does not see the files of "
            "another job"
        )
        assert (await world.engine.runs.page(5)).items == []

    play(scene)


def test_what_failed_is_run_again_from_there() -> None:
    async def scene(world: World) -> None:
        ids = await submitted(world, pipeline())
        await end(world, ids["one"])
        with pytest.raises(ConflictError, match="the task two has not ended"):
            await world.engine.runs.replace_from("p", "two")
        await end(world, ids["two"], failed=True)
        await world.until(ids["three"], "Cancelled")
        with pytest.raises(ConflictError, match="three depends on two, which failed"):
            await world.engine.runs.replace_from("p", "three")
        with pytest.raises(NotFoundError, match="the pipeline has no task 'four'"):
            await world.engine.runs.replace_from("p", "four")
        made = await world.engine.runs.replace_from("p", "two")
        two, three = (job["metadata"]["id"] for job in made.jobs)
        await end(world, two)
        await end(world, three)
        run = await world.engine.runs.get("p")
        assert [job["metadata"]["id"] for job in run["jobs"]] == [ids["one"], two, three]
        assert run["status"]["phase"] == "Succeeded"
        whole = await world.engine.runs.rerun("p")
        assert [job["status"]["phase"] for job in whole.jobs][1:] == ["Queued", "Queued"]
        assert whole.run["pipeline"] == run["pipeline"]

    play(scene)


def test_a_run_that_is_no_pipeline_has_no_tasks() -> None:
    async def scene(world: World) -> None:
        await world.engine.submit_array(Submission([jobset("s")], num_jobs=2))
        with pytest.raises(ConflictError, match="the run s is not a pipeline"):
            await world.engine.runs.replace_from("s", "two")

    play(scene)


@pytest.mark.parametrize(
    ("submission", "error"),
    [
        (Submission([{"apiVersion": "v1", "kind": "Pod"}], pipeline=True), UsageError),
        (pipeline("run: x"), UsageError),
        (pipeline("name: g\nexecution: parallel\n---\nname: a\n---\nname: b"), UsageError),
        (pipeline(num_jobs=2), UsageError),
        (pipeline(f"name: {'x' * 64}\nrun: x\n---\nrun: y"), InvalidError),
    ],
)
def test_what_is_no_pipeline(submission: Submission, error: type[Exception]) -> None:
    async def scene(world: World) -> None:
        with pytest.raises(error):
            await world.engine.submit_array(submission)
        assert world.is_idle()

    play(scene)


def test_pipelines_are_listed_apart_with_their_tasks() -> None:
    async def scene(world: World) -> None:
        await submitted(world, pipeline())
        await world.engine.submit_array(Submission([jobset("sweep")], num_jobs=2))
        listed = (await world.engine.runs.page(10)).items
        assert [each["metadata"]["name"] for each in listed] == ["sweep", "p"]
        (only,) = (await world.engine.runs.page(10, pipelines=True)).items
        assert only["pipeline"]["tasks"] == [
            {"name": "one", "after": []},
            {"name": "two", "after": ["one"]},
            {"name": "three", "after": ["two"]},
        ]
        assert "jobs" not in only
        assert "pipeline" not in listed[0]

    play(scene)
