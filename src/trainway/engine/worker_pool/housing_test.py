"""Jobs that are for a cloud: they get machines, or somebody is told why not."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from trainway.backends.base import Backend
from trainway.backends.testing import FakeBackend
from trainway.engine.cluster.testing import ClusterWorld
from trainway.engine.moving.moves import Moves
from trainway.engine.moving.testing import FakePlace, KeptStore, Places
from trainway.engine.placement.offer import Fit
from trainway.engine.rental.office import RentalOffice
from trainway.engine.rental.rentals import Rentals
from trainway.engine.rental.ssh_key import SshKey
from trainway.engine.rental.testing import RentalWorld
from trainway.engine.submission import Submission
from trainway.engine.testing import jobset, memory_database
from trainway.engine.times import time_text
from trainway.engine.worker_pool.testing import GPU, trainjob
from trainway.errors import ConflictError, NotFoundError, TrainwayError, UsageError
from trainway.json_types import Json
from trainway.providers.section import CloudSettings
from trainway.providers.testing import Break, Fault

TYPED = {"trainway.dev/accelerators": "H100"}
LAB = "ssh/lab"


class Office(RentalOffice):
    """Where the rentals of a test are had."""

    def __init__(self, rentals: Rentals) -> None:
        self.__dict__["rentals"] = rentals

        self._is_open = True

    async def start(self) -> None:
        await self.rentals.start()

    def ssh_key(self) -> SshKey:
        return SshKey("ssh-ed25519 AAAA trainway", "/key", "/clouds")

    def settings(self) -> dict[str, CloudSettings]:
        return {"aws": CloudSettings(is_for_any=True), "gcp": CloudSettings()}


class Place(FakeBackend):
    """A place that has a queue of its own."""

    schedules = True

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class CloudWorld(ClusterWorld):
    """An engine with two stand-in clouds and a pool of hosts."""

    def __init__(self, folder: Path, before: "CloudWorld | None" = None) -> None:
        store = before.store if before else KeptStore(memory_database())
        super().__init__(before.agents if before else None, store)
        self.clouds = RentalWorld(folder)
        self.lab: Place = before.lab if before else Place(LAB)
        self.engine.registry.put(self.lab)
        self.found: dict[str, Place] = {}
        self._get = self.engine.registry.get
        vars(self.engine.registry)["get"] = self.backend_of

    def backend_of(self, name: str, kubeconfig: Iterable[str] = ()) -> Backend:
        """Whatever is held of a cloud is played by the test."""
        if not name.startswith(("worker-pool/", "cluster/for-")):
            return self._get(name, kubeconfig)
        return self.found.setdefault(name, Place(name))

    def play(self, scene: Callable[[], Awaitable[None]]) -> None:
        """Let a server live through a scene."""

        async def run() -> None:
            rentals, around = self.clouds.server()
            self.engine.rental_office = Office(rentals)
            await self.engine.start()
            try:
                async with asyncio.timeout(20):
                    await scene()
            finally:
                await self.engine.close()
                around.ledger.close()

        asyncio.run(run())

    async def take(self, backend: str = "aws", job: Json | None = None, **options: Any) -> str:
        """Submit a job; its id."""
        wanted = job or trainjob(2, {GPU: "8"}, annotations=TYPED)
        submission = Submission([wanted], backend=backend, workdir="/", **options)
        made, _ = await self.engine.submit(submission)
        return str(made["metadata"]["id"])

    async def set_up(self) -> None:
        """Let the setup of the next worker succeed."""
        await self.until_cluster(
            lambda: any(n.startswith("cluster/") and p.jobs for n, p in self.found.items())
        )
        for name, place in self.found.items():
            if name.startswith("cluster/"):
                for job in place.jobs.values():
                    job.end()

    async def place_of(self, job_id: str) -> str:
        """Where a job is."""
        return str((await self.engine.reading.get(job_id))["spec"]["backend"])


@pytest.fixture
def world(tmp_path: Path) -> CloudWorld:
    return CloudWorld(tmp_path)


def test_a_trainjob_has_machines_for_as_long_as_it_runs(world: CloudWorld) -> None:
    async def scene() -> None:
        job_id = await world.take()
        (pool,) = world.engine.worker_pools.all()
        assert (pool["spec"]["infra"], pool["spec"]["nodes"]) == ("aws", 2)
        assert pool["spec"]["resources"]["accelerators"] == "H100:8"
        said = "waits for its machines"
        await world.until(job_id, lambda job: job["status"]["message"].startswith(said))
        await world.set_up()
        place = world.found[await world.place_of(job_id)]
        await world.until_cluster(lambda: job_id in place.jobs)
        assert len(world.clouds.machines()) == 2
        place.jobs[job_id].run()
        place.jobs[job_id].end()
        await world.until(job_id, "Succeeded")
        await world.until_cluster(lambda: not world.engine.worker_pools.all())
        assert world.clouds.machines() == []
        again = await world.engine.rerun(job_id)
        assert again["spec"]["backend"] not in (place.name, "aws"), "it has a pool of its own"

    world.play(scene)


def test_a_job_with_spot_machines_has_such_machines_again(world: CloudWorld) -> None:
    async def scene() -> None:
        in_time: Json = {"deadline": time_text(world.now + timedelta(days=1)), "work": 60.0}
        for options in ({}, in_time):
            job_id = await world.take(use_spot=True, **options)
            await world.engine.cancel(job_id)
            await world.until_cluster(lambda: not world.engine.worker_pools.all())
            again = await world.engine.rerun(job_id)
            spot = [each["spec"]["resources"] for each in world.engine.worker_pools.all()]
            wanted = [True, False] if options else [True]
            assert [each["use_spot"] for each in spot] == wanted
            await world.engine.cancel(again["metadata"]["id"])
            await world.until_cluster(lambda: not world.engine.worker_pools.all())

    world.play(scene)


def test_a_cloud_is_one_of_the_places_that_a_job_may_have(world: CloudWorld) -> None:
    async def scene() -> None:
        job = trainjob(2, {GPU: "8"}, annotations=TYPED)
        asked = [Submission([job], backend=place, workdir="/") for place in ("local", "aws")]
        local, aws = await world.engine.offers(asked)
        assert local.fit is Fit.NEVER
        assert (aws.fit, aws.price) == (Fit.RENT, 10.0)
        assert aws.reason == "2 machines (p5) can be rented at aws/east/east-a in a few minutes"
        assert world.engine.rental_office.places() == ["aws"], "not gcp, since nobody said so"
        assert world.engine.worker_pools.all() == [], "nothing is made by asking"

    world.play(scene)


def test_a_cloud_without_credentials_is_told_before_anything_is_made(world: CloudWorld) -> None:
    world.clouds.aws.break_next(Fault("check", Break.CREDENTIALS, times=9))

    async def scene() -> None:
        with pytest.raises(TrainwayError, match=r"aws cannot be used: .*the key has expired"):
            await world.take()
        assert world.engine.worker_pools.all() == []
        _, chosen = await world.engine.housing.offer(
            Submission([trainjob(2, {GPU: "8"}, annotations=TYPED)], backend="cloud", workdir="/")
        )
        assert chosen.cloud == "gcp", "of all clouds the next one that can be used"

    world.play(scene)


def test_what_no_cloud_has_is_told_in_one_sentence(world: CloudWorld) -> None:
    async def scene() -> None:
        with pytest.raises(NotFoundError, match="there is no accelerator H1000; did you mean H100"):
            await world.take(
                job=trainjob(1, {GPU: "8"}, annotations={"trainway.dev/accelerators": "H1000"})
            )
        with pytest.raises(NotFoundError, match="no region eats in the catalog; did you mean east"):
            await world.take("aws/eats")
        with pytest.raises(NotFoundError, match="there is no backend 'asw'; did you mean aws"):
            await world.take("asw")
        with pytest.raises(NotFoundError, match="cannot rent machines of azure yet"):
            await world.take("azure")
        with pytest.raises(UsageError, match="at most a region and a zone may follow aws"):
            await world.take("aws/east/east-a/x")

    world.play(scene)


def test_a_pool_whose_job_is_not_stored_goes_again(world: CloudWorld) -> None:
    async def scene() -> None:
        job = trainjob(2, {GPU: "8"}, annotations=TYPED)
        submission = Submission([job], backend="aws", workdir="/")
        async with world.engine.housing.house(submission):
            assert len(world.engine.worker_pools.all()) == 1
        await world.until_cluster(lambda: not world.engine.worker_pools.all())
        assert world.clouds.machines() == []

    world.play(scene)


def candidate(place: str) -> Json:
    return {"backend": place, "objects": [trainjob(2, {GPU: "8"}, annotations=TYPED)]}


def test_a_job_that_waits_too_long_goes_to_a_cloud(world: CloudWorld) -> None:
    async def scene() -> None:
        waits: Json = {"candidates": [candidate("aws")], "max_wait": 0.01}
        job_id = await world.take(LAB, use_spot=True, **waits)
        world.now += timedelta(seconds=1)
        await world.until_cluster(lambda: bool(world.engine.worker_pools.all()))
        assert world.engine.worker_pools.all()[0]["spec"]["resources"]["use_spot"]
        await world.set_up()
        place = await world.place_of(job_id)
        assert place.startswith("worker-pool/for-")
        await world.until_cluster(lambda: job_id in world.found[place].jobs)
        world.found[place].jobs[job_id].run()
        await world.until(job_id, "Running")
        assert "MovingOn" in await world.reasons(job_id)
        assert job_id in world.lab.deleted

    world.play(scene)


def test_a_job_goes_on_from_a_cloud_that_has_no_machines(world: CloudWorld) -> None:
    world.clouds.aws.break_next(Fault("create", Break.CAPACITY, times=50))

    async def scene() -> None:
        job_id = await world.take(candidates=[candidate(LAB)], max_wait=None)
        await world.until_cluster(lambda: job_id in world.lab.jobs)
        await world.until_cluster(lambda: not world.engine.worker_pools.all())
        assert await world.place_of(job_id) == LAB
        events = [event.message for event in await world.engine.reading.events(job_id)]
        assert any("there is no room for such machines now" in each for each in events), events
        assert world.clouds.machines() == []

    world.play(scene)


def test_a_place_that_is_chosen_when_its_turn_comes_may_be_a_cloud(world: CloudWorld) -> None:
    async def scene() -> None:
        job_id = await world.take(candidates=[candidate(LAB)], prefer="cost")
        await world.set_up()
        place = await world.place_of(job_id)
        await world.until_cluster(lambda: job_id in world.found[place].jobs)
        assert "Placed" in await world.reasons(job_id)

        other = await world.take(candidates=[candidate("gcp")], prefer="cost")
        assert await world.place_of(other) == "aws", "all of them may be clouds"
        await world.until_cluster(lambda: len(world.engine.worker_pools.all()) == 2)

    world.play(scene)


def test_a_job_that_no_other_place_takes_goes_back_to_its_cloud(world: CloudWorld) -> None:
    world.clouds.aws.break_next(Fault("create", Break.CAPACITY, times=9))  # three rounds of all
    world.lab.problem = "it is full"

    async def scene() -> None:
        job_id = await world.take(candidates=[candidate(LAB)])
        first = await world.place_of(job_id)
        await world.set_up()
        place = await world.place_of(job_id)
        assert place.startswith("worker-pool/for-")
        assert place != first
        await world.until_cluster(lambda: job_id in world.found[place].jobs)
        assert "MoveRefused" in await world.reasons(job_id)

    world.play(scene)


def test_a_job_that_has_not_started_moves_to_a_cloud(world: CloudWorld) -> None:
    async def scene() -> None:
        job_id = await world.take(LAB)
        await world.engine.moves.move(job_id, "aws")
        await world.until_cluster(lambda: bool(world.engine.worker_pools.all()))
        await world.set_up()
        place = await world.place_of(job_id)
        await world.until_cluster(lambda: job_id in world.found[place].jobs)

        other = await world.take(LAB, jobset("other"))
        await world.until_cluster(lambda: other in world.lab.jobs)
        world.lab.jobs[other].run()
        await world.until(other, "Running")
        with pytest.raises(ConflictError, match="cannot"):
            await world.engine.moves.move(other, "aws")

    world.play(scene)


def test_a_job_that_has_started_goes_back_from_a_cloud_without_machines(
    world: CloudWorld,
) -> None:
    world.clouds.aws.break_next(Fault("create", Break.CAPACITY, times=9))  # three rounds of all
    lab = FakePlace(LAB, Places())
    lab.obeys = True
    world.engine.registry.put(lab)

    async def scene() -> None:
        job_id = await world.take(LAB)
        await world.until_cluster(lambda: job_id in lab.jobs)
        lab.jobs[job_id].run()
        await world.until(job_id, "Running")
        await world.engine.moves.move(job_id, "aws")
        await world.until_cluster(lambda: lab.left == [job_id])
        await world.until_cluster(lambda: job_id in lab.jobs)
        await world.until(job_id, "Running")
        events = [event.message for event in await world.engine.reading.events(job_id)]
        assert any("does not take it, so it goes back" in each for each in events), events
        await world.until_cluster(lambda: not world.engine.worker_pools.all())

    world.play(scene)


def test_a_server_that_is_killed_on_the_way_houses_the_job_anew(
    world: CloudWorld, tmp_path: Path
) -> None:
    """Between the pool and the job: the first pool goes unused, and the job gets another."""
    ids: list[str] = []
    pools: list[str] = []

    async def before() -> None:
        async def killed(*_: object) -> None:
            pools.extend(pool["metadata"]["name"] for pool in world.engine.worker_pools.all())
            await asyncio.Event().wait()

        with patch.object(Moves, "_left", killed):
            ids.append(await world.take(LAB))
            await world.engine.moves.move(ids[0], "aws")
            await world.until_cluster(lambda: bool(pools))
            for live_id in list(world.engine._live):
                world.engine._live.remove(live_id)

    world.play(before)
    (tmp_path / "second").mkdir()
    second = CloudWorld(tmp_path / "second", world)

    async def after() -> None:
        await second.set_up()
        place = await second.place_of(ids[0])
        assert place.startswith("worker-pool/for-")
        assert not place.endswith(pools[0])
        await second.until_cluster(lambda: ids[0] in second.found[place].jobs)
        await second.until_cluster(lambda: len(second.engine.worker_pools.all()) == 1)

    second.play(after)
