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
            await asyncio.sleep(0)


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
        with pytest.raises(ConflictError, match="no job of the run demo is cancelled"):
            await world.engine.runs.rerun("demo", [Phase.CANCELLED])
        run, _ = await world.engine.runs.rerun("demo", [Phase.FAILED])
        (job,) = run["jobs"]
        assert job["metadata"]["name"] == "demo-1"
        assert job["spec"]["parameters"] == TRIALS[1]
        assert run["spec"]["parallel"] == 2
        page = await world.engine.runs.page(10)
        found = [(item["metadata"]["name"], item["status"]["phase"]) for item in page.items]
        assert found[1] == ("demo", "Failed")
        assert page.items[0]["metadata"]["id"] == run["metadata"]["id"] == job["spec"]["run"]
        begun = await world.begun(job["metadata"]["id"])
        assert container(begun.workload)["command"][-1] == "train --lr 1e-3"
        alone = await world.engine.rerun("demo-1")
        assert "run" not in alone["spec"]
        assert alone["spec"]["parameters"] == TRIALS[1]
        assert RUN not in alone["metadata"]["labels"]

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
