"""Runs: their limit, also across servers, and what is done with all of their jobs."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from trainway.backends.testing import FakeBackend
from trainway.engine.phases import Phase
from trainway.engine.run.record import phase_of
from trainway.engine.submission import Submission
from trainway.engine.testing import World, act, jobset, memory_store, play
from trainway.errors import ConflictError, NotFoundError, UsageError
from trainway.jobset.labels import ARRAY, PARAMETERS, RUN
from trainway.json_types import Json

TRIALS = [{"lr": "0.10"}, {"lr": "1e-3"}]


def sweep(trials: list[dict[str, str]] = TRIALS, **more: Any) -> Submission:
    return Submission([jobset(command="train --lr {lr}")], parameters=trials, **more)


def ids(jobs: list[Json]) -> list[str]:
    return [job["metadata"]["id"] for job in jobs]


def phases(run: Json) -> list[str]:
    return [job["status"]["phase"] for job in run["jobs"]]


async def until_begun(world: World, count: int) -> None:
    async with asyncio.timeout(60):
        while len(world.backend.jobs) < count:
            await asyncio.sleep(0.001)


def container(workload: Any) -> Json:
    (role,) = workload.jobset["spec"]["replicatedJobs"]
    (found,) = role["template"]["spec"]["template"]["spec"]["containers"]
    return dict(found)


def test_each_trial_has_its_parameters() -> None:
    async def scene(world: World) -> None:
        jobs, _ = await world.engine.submit_array(sweep())
        assert [job["spec"]["parameters"] for job in jobs] == TRIALS
        for job, trial in zip(jobs, TRIALS, strict=True):
            begun = await world.begun(job["metadata"]["id"])
            made = container(begun.workload)
            assert made["command"][-1] == f"train --lr {trial['lr']}"
            assert {"name": "TRAINWAY_PARAM_LR", "value": trial["lr"]} in made["env"]
            assert begun.workload.place is None  # their scripts may differ
        assert jobs[0]["metadata"]["labels"] == {RUN: "demo"}
        whole = await world.engine.reading.get("demo-1")
        (made,) = whole["spec"]["objects"]
        assert made["metadata"]["annotations"] == {PARAMETERS: '{"lr": "1e-3"}'}
        run = await world.engine.runs.get("demo")
        assert run["metadata"]["id"] == jobs[0]["metadata"]["id"] == jobs[1]["spec"]["run"]
        assert [job["metadata"]["name"] for job in run["jobs"]] == ["demo-0", "demo-1"]

    play(scene)


def test_a_text_that_is_not_to_be_changed_is_not() -> None:
    async def scene(world: World) -> None:
        jobs, _ = await world.engine.submit_array(sweep(placeholders=False))
        begun = await world.begun(jobs[0]["metadata"]["id"])
        assert container(begun.workload)["command"][-1] == "train --lr {lr}"

    play(scene)


def test_a_limit_holds_also_for_the_next_server() -> None:
    store, backend = memory_store(), FakeBackend()
    made: list[str] = []

    async def first(world: World) -> None:
        jobs, _ = await world.engine.submit_array(
            Submission([jobset()], num_jobs=5, parallel=2, key="k")
        )
        made.extend(ids(jobs))
        await until_begun(world, 2)
        run = await world.engine.runs.get("demo")
        assert phases(run)[2:] == ["Queued"] * 3
        why = "at most 2 jobs of the run demo may run at a time"
        assert run["jobs"][2]["status"]["message"] == why
        assert ARRAY not in run["jobs"][0]["metadata"]["labels"]
        world.backend.jobs[made[1]].end()
        await until_begun(world, 3)
        assert set(backend.jobs) == set(made[:3])

    async def second(world: World) -> None:
        again, _ = await world.engine.submit_array(
            Submission([jobset()], num_jobs=5, parallel=2, key="k")
        )
        assert ids(again) == made
        assert set(backend.jobs) == set(made[:3])
        for position, id_ in enumerate((made[0], *made[2:])):
            (await world.begun(id_)).end()
            await world.until(id_, "Succeeded")
            await until_begun(world, min(position + 4, 5))
        run = await world.engine.runs.get("demo")
        assert run["status"] == {"phase": "Succeeded", "phases": {"Succeeded": 5}}

    async def both() -> None:
        # The store is closed with an engine, so the first is only detached from its jobs.
        world = World(backend, store)
        await world.engine.start()
        await first(world)
        for live in list(world.engine._live.values()):
            await live.detach()
        await act(second, World(backend, store))

    asyncio.run(both())


def test_who_is_suspended_gives_its_place_to_the_next_one() -> None:
    async def scene(world: World) -> None:
        jobs, _ = await world.engine.submit_array(Submission([jobset()], num_jobs=2, parallel=1))
        one, two = ids(jobs)
        first = await world.begun(one)
        first.run()
        await world.until(one, "Running")
        await world.engine.suspend(one)
        first.suspend()
        second = await world.begun(two)
        assert (await world.engine.resume(one))["status"]["phase"] == "Queued"
        second.end()
        await world.until(one, "Starting")

    play(scene)


def test_a_run_is_cancelled_as_one_and_deleted_as_one() -> None:
    async def scene(world: World) -> None:
        jobs, _ = await world.engine.submit_array(sweep(parallel=1))
        one, two = ids(jobs)
        begun = await world.begun(one)
        run = await world.engine.runs.cancel("demo")
        assert phases(run) == ["Stopping", "Cancelled"]
        begun.end(succeeded=False)
        await world.until(one, lambda job: job["status"]["phase"] in ("Cancelled", "Failed"))
        assert two not in world.backend.jobs
        with pytest.raises(ConflictError, match="all jobs of the run demo have already ended"):
            await world.engine.runs.cancel("demo")
        gone = await world.engine.runs.delete("demo")
        assert ids(gone) == [one, two]
        with pytest.raises(NotFoundError, match="no run 'demo'"):
            await world.engine.runs.get("demo")

    play(scene)


def test_only_what_failed_is_submitted_again() -> None:
    async def scene(world: World) -> None:
        jobs, _ = await world.engine.submit_array(sweep(parallel=2))
        for job, succeeded in zip(jobs, (True, False), strict=True):
            (await world.begun(job["metadata"]["id"])).end(succeeded=succeeded)
            await world.until(job["metadata"]["id"], "Succeeded" if succeeded else "Failed")
        with pytest.raises(ConflictError, match="no job of the run demo has the phase Cancelled"):
            await world.engine.runs.replace("demo", [Phase.CANCELLED])
        made = await world.engine.runs.replace("demo", [Phase.FAILED])
        (job,) = made.jobs
        assert job["metadata"]["name"] == "demo-1"
        assert job["spec"]["parameters"] == TRIALS[1]
        run = await world.engine.runs.get("demo")
        assert ids(run["jobs"]) == ids(made.run["jobs"]) == [ids(jobs)[0], ids([job])[0]]
        assert run["metadata"]["id"] == ids(jobs)[0] == job["spec"]["run"]
        assert run["spec"] == {"backend": "local", "jobs": 2, "parallel": 2}
        (item,) = (await world.engine.runs.page(10)).items
        assert (item["metadata"], item["status"]["phase"]) == (run["metadata"], "Running")
        old = await world.engine.reading.get(ids(jobs)[1])
        assert old["spec"]["replacedBy"] == ids([job])[0]
        assert (await world.reasons(ids(jobs)[1]))[-1] == "Replaced"
        begun = await world.begun(job["metadata"]["id"])
        assert container(begun.workload)["command"][-1] == "train --lr 1e-3"
        alone = await world.engine.rerun("demo-1")
        assert "run" not in alone["spec"]
        assert alone["spec"]["parameters"] == TRIALS[1]
        assert RUN not in alone["metadata"]["labels"]

    play(scene)


async def failed_run(world: World) -> list[str]:
    """A run of two jobs that have both failed."""
    jobs, _ = await world.engine.submit_array(sweep())
    for id_ in ids(jobs):
        await fail(world, id_)
    return ids(jobs)


async def fail(world: World, id_: str) -> None:
    (await world.begun(id_)).end(succeeded=False)
    await world.until(id_, "Failed")


def test_a_job_is_replaced_again_and_again_and_its_place_stays() -> None:
    async def scene(world: World) -> None:
        _, one = await failed_run(world)
        runs, chain = world.engine.runs, [one]
        for _ in range(2):
            made = await runs.replace("demo", [Phase.FAILED])
            assert [job["metadata"]["name"] for job in made.run["jobs"]] == ["demo-0", "demo-1"]
            chain.append(ids(made.run["jobs"])[1])
            for job in made.jobs:
                await fail(world, job["metadata"]["id"])
        await world.engine.delete(chain[1])  # one in the middle of a chain
        assert ids((await runs.get("demo"))["jobs"])[1] == chain[2]
        await world.engine.delete(chain[2])
        assert ids((await runs.get("demo"))["jobs"])[1] == one
        made = await runs.replace("demo", [Phase.FAILED])
        assert len(made.jobs) == 2
        for job in made.jobs:
            await fail(world, job["metadata"]["id"])
        gone = await runs.delete("demo")
        assert len(gone) == len(set(ids(gone))) == 6
        assert await world.engine.reading.counts() == (0, 0)

    play(scene)


def test_two_who_submit_what_failed_at_once_do_not_double_it() -> None:
    async def scene(world: World) -> None:
        await failed_run(world)
        both = [world.engine.runs.replace("demo", [Phase.FAILED]) for _ in range(2)]
        made = await asyncio.gather(*both, return_exceptions=True)
        assert sorted(type(item).__name__ for item in made) == ["ConflictError", "Rerun"]
        assert (await world.engine.reading.counts())[1] == 4
        assert len((await world.engine.runs.get("demo"))["jobs"]) == 2

    play(scene)


def test_all_jobs_of_a_run_are_submitted_again_as_a_new_run() -> None:
    async def scene(world: World) -> None:
        before = await failed_run(world)
        made = await world.engine.runs.rerun("demo")
        assert ids(made.jobs) == ids(made.run["jobs"])
        assert made.run["metadata"]["id"] == ids(made.jobs)[0]
        page = (await world.engine.runs.page(10)).items
        assert ids(page) == [ids(made.jobs)[0], before[0]]

    play(scene)


def test_a_search_that_has_failed_judges_the_trials_that_are_submitted_again() -> None:
    space = {"name": "lr", "searchSpace": {"categorical": {"choices": ["1"]}}}
    spec = {"objectives": [{"metric": "loss"}], "parameters": [space], "numTrials": 1}

    async def ended(world: World) -> Json:
        async with asyncio.timeout(60):
            while (run := await world.engine.runs.get("demo"))["status"]["search"] is None:
                await asyncio.sleep(0.001)
        return run

    async def scene(world: World) -> None:
        wanted = {"spec": spec, "annotations": {}}
        jobs, _ = await world.engine.runs.search(Submission([jobset()], search=wanted))
        await fail(world, ids(jobs)[0])
        assert (await ended(world))["status"]["phase"] == "Failed"
        (new,) = ids((await world.engine.runs.replace("demo", [Phase.FAILED])).jobs)
        (await world.begun(new)).run()
        assert (await world.engine.runs.get("demo"))["status"]["phase"] == "Running"
        await world.until(new, "Running")
        loss = {"metrics": [{"name": "loss", "value": "0.5"}]}
        await world.engine.report_progress(new, loss)
        world.backend.jobs[new].end()
        run = await ended(world)
        assert run["status"]["phase"] == "Succeeded"
        assert run["search"]["best"]["value"] == 0.5
        assert ids(run["jobs"]) == [new]

    play(scene)


@dataclass(frozen=True)
class Refused:
    submission: Submission
    problem: str


REFUSED = {
    "none": Refused(sweep([]), "there are no parameters"),
    "both": Refused(sweep(num_jobs=2), "num_jobs or parameters, not both"),
    "too many": Refused(sweep([{"lr": "1"}] * 1001), "1001 jobs are too many"),
    "a wrong name": Refused(sweep([{"l r": "1"}]), "cannot be the name of a parameter"),
    "a wrong value": Refused(sweep([{"lr": "a\0"}]), "a value with a NUL character"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_parameters_that_are_wrong_are_refused(case: Refused) -> None:
    async def scene(world: World) -> None:
        with pytest.raises(UsageError, match=case.problem):
            await world.engine.submit_array(case.submission)
        assert await world.engine.reading.counts() == (0, 0)

    play(scene)


@pytest.mark.parametrize(
    ("counts", "phase"),
    [
        ({"Succeeded": 2}, "Succeeded"),
        ({"Succeeded": 2, "Failed": 1, "Cancelled": 1}, "Failed"),
        ({"Succeeded": 1, "Cancelled": 1}, "Cancelled"),
        ({"Succeeded": 1, "Queued": 1}, "Running"),
        ({"Queued": 1, "Pending": 1}, "Queued"),
        ({"Queued": 1, "Starting": 1}, "Running"),
        ({"Paused": 1, "Failed": 1}, "Paused"),
    ],
)
def test_the_phase_of_a_run(counts: dict[str, int], phase: str) -> None:
    assert phase_of(counts) == phase
