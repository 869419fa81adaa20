"""A deadline on a cloud: spot machines and the same on demand are its two places."""

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from trainway.engine.cluster.testing import ClusterJobs
from trainway.engine.record import JobRecord
from trainway.engine.rental.record import Rental
from trainway.engine.submission import Submission
from trainway.engine.times import time_text
from trainway.engine.worker_pool.deadline_pools import (
    among,
    at_pools,
    in_one,
    may_be_at,
    pools_for,
)
from trainway.engine.worker_pool.interruption_test import SpotWorld, play
from trainway.engine.worker_pool.job_pool import as_spot, pool_name
from trainway.engine.worker_pool.machines import Machines
from trainway.engine.worker_pool.testing import WorkerJobs
from trainway.errors import UsageError
from trainway.json_types import Json

KEY = "k"
SPOT = pool_name(KEY)
SURE = f"{SPOT}-sure"


def task(**resources: Any) -> Json:
    """A task that asks for something."""
    return {
        "apiVersion": "trainway.dev/v1alpha1",
        "kind": "Task",
        "metadata": {"name": "demo"},
        "spec": {
            "tasks": [{"name": "demo", "task": {"run": "train", "resources": resources}}],
        },
        "origin": {"at": "2026-11-15-05-00-00-000000", "by": "a", "directory": "/", "home": "/"},
    }


@dataclass(frozen=True)
class Case:
    name: str
    resources: Json
    sure: Json
    options: Json = field(default_factory=dict)


BOTH: list[Json] = [{"infra": "aws", "use_spot": True}, {"infra": "gcp"}]


@pytest.mark.parametrize(
    "case",
    [
        Case("as the task says", {"cpus": 2, "use_spot": True}, {"cpus": 2, "use_spot": False}),
        Case("as the command says", {"cpus": 2}, {"cpus": 2, "use_spot": False},
             {"use_spot": True}),
        Case("as a candidate says", {"any_of": BOTH},
             {"any_of": [{**each, "use_spot": False} for each in BOTH], "use_spot": False}),
    ],
    ids=lambda case: case.name,
)  # fmt: skip
def test_there_is_a_pool_for_each_kind_of_machine(case: Case) -> None:
    options = {"deadline": "2026-11-20T00:00:00Z", "work": 3600.0, **case.options}
    submission = Submission([task(**case.resources)], backend="aws", **options)
    machines = Machines(1, case.resources)
    if submission.use_spot:
        machines = as_spot(machines)
    spot, sure = pools_for(submission, "for-x", 1, machines)

    assert (spot.name, sure.name) == ("for-x", "for-x-sure")
    assert sure.resources == case.sure
    assert spot.submission == sure.submission
    assert spot.size().insists, "the policy decides how long it is waited for machines"
    housed = at_pools(submission, ["worker-pool/for-x", "worker-pool/for-x-sure"])
    assert (housed.backend, housed.sure) == ("worker-pool/for-x", "worker-pool/for-x-sure")
    assert [each["backend"] for each in housed.candidates] == ["worker-pool/for-x-sure"]


def test_without_a_deadline_there_is_one_pool_that_gives_up() -> None:
    machines = Machines(1, {"use_spot": True})
    (only,) = pools_for(Submission([task(use_spot=True)], backend="aws"), "for-x", 1, machines)
    assert not only.size().insists


def test_a_deadline_without_spot_machines_has_nothing_to_choose() -> None:
    submission = Submission([task(cpus=2)], backend="aws", deadline="2026-11-20T00:00:00Z", work=1)
    with pytest.raises(UsageError, match="spot machines") as caught:
        pools_for(submission, "for-x", 1, Machines(1, {"cpus": 2}))
    assert "--use-spot" in (caught.value.hint or "")


def test_jobs_of_a_run_share_both_pools() -> None:
    options: Json = {"deadline": "2026-11-20T00:00:00Z", "work": 1.0, "num_jobs": 3, "parallel": 2}
    submission = Submission([task(cpus=2)], backend="aws", **options)
    pools = pools_for(submission, "for-x", 3, Machines(1, {"use_spot": True}))
    assert [pool.size().most for pool in pools] == [2, 2]


def submitted_to(*places: str, deadline: str | None = "2026-11-20T00:00:00Z") -> Submission:
    first, *others = places
    return Submission(
        [task(cpus=2)], backend=first, deadline=deadline, work=1,
        candidates=[{"backend": place, "objects": []} for place in others],
    )  # fmt: skip


@pytest.mark.parametrize(
    "submission",
    [submitted_to("aws", "ssh/lab"), submitted_to("aws", "gcp", "ssh/lab"), submitted_to("aws"),
     submitted_to("aws", "gcp", deadline=None)],
)  # fmt: skip
def test_places_that_are_chosen_between_stay(submission: Submission) -> None:
    assert in_one(submission) == (submission, [])
    pools = pools_for(submission, "for-x", 1, Machines(1, {"use_spot": True}))
    assert [pool.size().insists for pool in pools] in ([False], [True, True])


def test_several_clouds_are_one_place_for_a_deadline() -> None:
    one, places = in_one(submitted_to("aws/us-east-1", "gcp"))
    assert (one.backend, list(one.candidates)) == ("cloud", [])
    machines = among(Machines(1, {"cpus": 2, "infra": "aws", "use_spot": True}), places)
    spot, sure = pools_for(one, "for-x", 1, machines)
    either = [{"infra": "aws/us-east-1"}, {"infra": "gcp"}]
    assert spot.resources == {"cpus": 2, "use_spot": True, "any_of": either}
    on_demand = [{**each, "use_spot": False} for each in either]
    assert sure.resources == {"cpus": 2, "use_spot": False, "any_of": on_demand}
    assert (spot.infra, sure.infra) == ("cloud", "cloud")
    whole = Machines(1, {"infra": "aws"})
    assert among(whole, ["aws", "cloud"]) == among(whole, []) == whole
    with pytest.raises(UsageError, match="any_of or ordered") as caught:
        among(Machines(1, {"any_of": BOTH}), places)
    assert "--on cloud" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("backend", "recovery", "expected"),
    [
        ("worker-pool/a", None, True),
        ("worker-pool/b", '{"places": [{"backend": "worker-pool/a"}]}', True),
        ("worker-pool/b", '{"places": [{"backend": "worker-pool/a-sure"}]}', False),
        ("worker-pool/b", None, False),
    ],
)
def test_a_pool_is_kept_for_a_job_that_may_come(
    backend: str, recovery: str | None, expected: bool
) -> None:
    record = JobRecord(
        id="i", name="n", namespace="d", kind="JobSet", backend=backend, recovery=recovery
    )
    assert may_be_at(record, "worker-pool/a") is expected


class DeadlineWorld(SpotWorld):
    """A server to which a job with a deadline is submitted."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.pools = {name: WorkerJobs() for name in (SPOT, SURE)}
        for name, backend in self.pools.items():
            backend.name = f"worker-pool/{name}"
            workers = [ClusterJobs(f"{name}-{number}") for number in (1, 2)]
            self.setups |= {each.name.partition("/")[2]: each for each in workers}
            for each in (backend, *workers):
                self.engine.registry.put(each)

    async def submitted(self) -> str:
        """The id of the job, which has ten hours for five hours of work."""
        at = time_text(self.now + timedelta(hours=10))
        job, _ = await self.engine.submit(
            Submission(
                [task(accelerators="H100:8")], backend="cloud", key=KEY, use_spot=True,
                deadline=at, work=5 * 3600.0, workdir="/",
            )
        )  # fmt: skip
        return str(job["metadata"]["id"])

    async def runs_at(self, pool: str, job_id: str) -> None:
        """Let the first worker of a pool be ready, and the job run there."""
        (await self.setup(f"{pool}-1")).end()
        backend = self.pools[pool]
        await self.until_cluster(lambda: job_id in backend.jobs)
        now = time_text(self.now)
        container = {"name": "main", "restarts": 0, "startedAt": now}
        pod = {"pod": "node-0-0", "attempt": 0, "phase": "Running", "time": now}
        backend.jobs[job_id].write("pod", **pod, containers=[container])
        await self.until(job_id, "Running")

    def later(self, job_id: str, **passed: float) -> None:
        """Let time pass, and the deadline be looked at."""
        self.now += timedelta(**passed)
        self.engine.moves.look(self.engine._live[job_id])

    def rented(self, worker: str) -> Rental | None:
        """What a worker has."""
        return self.rentals.find(worker)


def test_a_job_that_is_behind_goes_on_demand(tmp_path: Path) -> None:
    world = DeadlineWorld(tmp_path)

    async def scene() -> None:
        job_id = await world.submitted()
        await world.until_cluster(lambda: world.rented(f"{SPOT}-1") is not None)
        world.later(job_id, minutes=4)  # its machines may take five minutes
        await world.runs_at(SPOT, job_id)
        found = world.rented(f"{SPOT}-1")
        assert found is not None
        assert found.spot
        assert world.rented(f"{SURE}-1") is None, "what nobody is at costs nothing"

        spot = world.pools[SPOT]
        world.agents.say(f"{SPOT}-1", state="gone")
        await world.until(job_id, "Queued")
        del spot.jobs[job_id]
        setup = await world.setup(f"{SPOT}-2")
        world.later(job_id, minutes=6)  # which is not ready in time
        await world.until_asked(setup, "cancel")
        setup.end(succeeded=False, reason="Cancelled")
        await world.runs_at(SURE, job_id)
        found = world.rented(f"{SURE}-1")
        assert found is not None
        assert not found.spot
        await world.until_cluster(lambda: world.rented(f"{SPOT}-2") is None)

        world.pools[SURE].jobs[job_id].end()
        await world.until(job_id, "Succeeded")
        await world.until_cluster(lambda: not world.engine.worker_pools.all())
        await world.until_cluster(lambda: not world.clouds.machines())

    play(world, scene)
