"""What jobs on rented machines may cost: their machines count, whoever shares them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from trainway.engine.costs.account import root_of
from trainway.engine.submission import Submission
from trainway.engine.testing import told
from trainway.engine.usage import Grouping
from trainway.engine.worker_pool.housing_test import CloudWorld
from trainway.engine.worker_pool.turns_test import at_machines, cloud_pipeline, gpu_task
from trainway.errors import ConflictError
from trainway.jobset.labels import ACCOUNT


@pytest.fixture
def world(tmp_path: Path) -> CloudWorld:
    return CloudWorld(tmp_path)


async def look(world: CloudWorld, hours: float) -> None:
    """Look at budgets when machines that were launched now have run so long."""
    world.now = datetime.now(UTC) + timedelta(hours=hours)
    await world.engine.costs.budgets.look()


async def ends(world: CloudWorld, job_id: str) -> str:
    """Let a job end that is told to; why it does."""
    place = world.found[await world.place_of(job_id)]
    playing = place.jobs[job_id]
    await told(playing, "cancel")
    playing.write("end", succeeded=False, reason="Cancelled", message="",
                  time=world.now.isoformat())  # fmt: skip
    status = (await world.until(job_id, "Failed"))["status"]
    assert (status["reason"], status["cause"]) == ("BudgetExceeded", "Budget")
    return str(status["message"])


def test_a_job_ends_when_its_machines_have_cost_all_that_it_may(world: CloudWorld) -> None:
    async def scene() -> None:
        job_id = await world.take(max_cost=100.0)
        await world.set_up()
        await at_place(world, job_id)
        await look(world, 3.9)
        assert "BudgetWarning" not in await world.reasons(job_id)
        await look(world, 4.1)
        assert (await world.reasons(job_id)).count("BudgetWarning") == 1
        usage = (await world.engine.reading.get(job_id))["status"]["usage"]
        assert (usage["cost"], usage["pricePerHour"]) == (pytest.approx(82.0, abs=0.5), 20.0)
        await look(world, 5.01)
        assert (await ends(world, job_id)).startswith("it has cost $100.")
        await world.until_cluster(lambda: not world.engine.worker_pools.all())
        assert world.clouds.machines() == []
        usage = (await world.engine.reading.get(job_id))["status"]["usage"]
        assert usage["cost"] > 0, "with machines that are gone"
        assert "pricePerHour" not in usage
        report = await world.engine.reading.usage(Grouping.JOB, "", "")
        costs = {each["id"]: each["cost"] for each in report["items"] if each.get("cost")}
        assert costs == {job_id: usage["cost"]}, "and not under the name of its machines"
        again = await world.engine.again(job_id)
        assert again.max_cost == 100.0
        assert ACCOUNT not in again.labels, "nothing of the next one is spent"

    world.play(scene)


async def at_place(world: CloudWorld, job_id: str) -> None:
    place = world.found[await world.place_of(job_id)]
    await world.until_cluster(lambda: job_id in place.jobs)
    place.jobs[job_id].run()
    await world.until(job_id, "Running")


def test_jobs_that_share_machines_have_one_limit(world: CloudWorld) -> None:
    async def scene() -> None:
        jobs, _ = await world.engine.submit_array(
            Submission(gpu_task("x"), backend="aws", workdir="/", num_jobs=3, parallel=1,
                       max_cost=20.0)
        )  # fmt: skip
        ids = [job["metadata"]["id"] for job in jobs]
        await world.set_up()
        await at_place(world, ids[0])
        await look(world, 1.5)
        run = await world.engine.runs.get("demo")
        assert run["status"]["usage"]["cost"] == pytest.approx(15.0, abs=0.5)
        assert run["status"]["usage"]["pricePerHour"] == 10.0
        await look(world, 2.1)
        for job_id in ids[1:]:
            status = (await world.until(job_id, "Failed"))["status"]
            assert "run demo has cost $2" in status["message"]
        await ends(world, ids[0])
        await world.until_cluster(lambda: not world.clouds.machines())
        run = await world.engine.runs.get("demo")
        assert run["status"]["budget"]["ended"]
        assert run["status"]["usage"]["cost"] == pytest.approx(21.0, abs=0.5)

    world.play(scene)


def test_with_a_limit_for_each_jobs_share_no_machines(world: CloudWorld) -> None:
    async def scene() -> None:
        jobs, _ = await world.engine.submit_array(
            Submission(gpu_task("x"), backend="aws", workdir="/", num_jobs=2, parallel=1,
                       max_cost_each=10.0)
        )  # fmt: skip
        first = jobs[0]["metadata"]["id"]
        await at_machines(world, first)
        await at_place(world, first)
        (pool,) = world.engine.worker_pools.all()
        await look(world, 1.1)
        await ends(world, first)
        for name in [name for name in world.found if name.startswith("cluster/")]:
            del world.found[name]
        second = jobs[1]["metadata"]["id"]
        await at_machines(world, second)
        assert pool not in world.engine.worker_pools.all()
        await world.engine.costs.budgets.look()
        assert "BudgetWarning" not in await world.reasons(second)

    world.play(scene)


def test_a_pipeline_has_one_limit_that_outlives_a_server(world: CloudWorld, tmp_path: Path) -> None:
    ids: dict[str, str] = {}

    async def before() -> None:
        jobs, _ = await world.engine.submit_array(cloud_pipeline(max_cost=50.0))
        ids.update({job["metadata"]["name"]: job["metadata"]["id"] for job in jobs})
        first, second = ids.values()
        await at_machines(world, first)
        await at_place(world, first)
        accounts = [root_of((await world.engine.reading.record(each)).label_map[ACCOUNT])
                    for each in (first, second)]  # fmt: skip
        assert accounts[0] == accounts[1]
        await look(world, 2.1)
        assert (await world.reasons(second)).count("BudgetWarning") == 1

    world.play(before)
    (tmp_path / "second").mkdir()
    after_all = CloudWorld(tmp_path / "second", world)

    async def after() -> None:
        first, second = ids.values()
        await look(after_all, 2.6)
        status = (await after_all.until(second, "Failed"))["status"]
        assert status["reason"] == "BudgetExceeded", "and not because the first one did"
        assert (await after_all.reasons(second)).count("BudgetWarning") == 1
        with pytest.raises(ConflictError, match=r"run p has cost all of the \$50.00 that it may"):
            await after_all.engine.runs.replace_from("p", "two")
        again = await after_all.engine.runs.get("p")
        assert again["status"]["budget"]["limit"] == 50.0
        assert first

    after_all.play(after)
