"""The jobs of a cluster that somebody launched, when a cloud takes spot machines of it back."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from trainway.backends.testing import FakeJob
from trainway.engine.cluster.draining import host_of
from trainway.engine.cluster.record import State
from trainway.engine.cluster.request import Launch
from trainway.engine.cluster.testing import ClusterWorld, until_begun
from trainway.engine.costs.rate import rates_of
from trainway.engine.moving.move import Candidate
from trainway.engine.record import JobRecord
from trainway.engine.rental.testing import RentalWorld, StandInOffice, settled
from trainway.engine.submission import Submission
from trainway.engine.testing import jobset
from trainway.engine.times import time_text
from trainway.errors import ConflictError
from trainway.json_types import Json

WANTED: Json = {"accelerators": "H100:8", "use_spot": True}
HERE = "cluster/dev"


class SpotWorld(ClusterWorld):
    """A server with the cluster `dev` of two spot machines."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.now = datetime.now(UTC)
        self.clouds = RentalWorld(folder)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Have a server that rents, and the cluster."""
        self.rentals, around = self.clouds.server()
        self.engine.rental_office = StandInOffice(self.rentals)
        await self.engine.start()
        await self.clusters.launch(Launch("dev", "gcp", 2, WANTED))
        while self.phase() != State.UP:
            await asyncio.sleep(0.001)
        yield
        await self.engine.close()
        around.ledger.close()

    async def running(self, name: str, rank: int, *others: str) -> tuple[str, FakeJob]:
        """A job that runs on the machine of that rank, and may go to other places."""
        more = [asdict(Candidate(place, [jobset(name)])) for place in others]
        strategy = "failover" if others else None
        wanted = Submission(
            [jobset(name)], backend=HERE, candidates=more, recovery_strategy=strategy
        )
        job, _ = await self.engine.submit(wanted)
        job_id = str(job["metadata"]["id"])
        begun = await until_begun(self.jobs, job_id)
        begun.write("pod", pod="node-0-0", phase="Running", host=f"dev-{rank}", containers=[
            {"name": "main", "startedAt": "2026-11-15T05:00:00Z"}
        ])  # fmt: skip
        await self.until(job_id, "Running")
        return job_id, begun

    async def warn(self, *ranks: int) -> None:
        """Let the cloud say that it takes machines in two minutes."""
        at = time_text(self.now + timedelta(minutes=2))
        for rank in ranks:
            self.clouds.gcp.warn(self.machine(rank), at)
        await self.rentals.look()

    def machine(self, rank: int) -> str:
        """The id of the machine of that rank."""
        (found,) = [each.id for each in self.clouds.machines() if each.rank == rank]
        return found

    async def take(self) -> None:
        """Let all machines be gone."""
        for each in self.clouds.machines():
            self.clouds.gcp.take(each.id)
        await self.rentals.look()
        await settled(self.rentals)

    async def shown(self) -> Json:
        """The status of the cluster."""
        return dict((await self.clusters.get("dev"))["status"])


def play(world: SpotWorld, scene: Callable[[], Awaitable[None]]) -> None:
    """Let a scene happen."""

    async def run() -> None:
        async with world.serving(), asyncio.timeout(30):
            await scene()

    asyncio.run(run())


@pytest.fixture
def world(tmp_path: Path) -> SpotWorld:
    return SpotWorld(tmp_path)


async def told_to_end(job: FakeJob) -> None:
    """Wait until a job is told to end."""
    while "cancel" not in job.asked:
        await asyncio.sleep(0.001)


def test_jobs_on_a_machine_that_is_taken_end_and_say_who_took_it(world: SpotWorld) -> None:
    async def scene() -> None:
        lost, ending = await world.running("lost", 1)
        kept, other = await world.running("kept", 0)
        taken = world.machine(1)
        await world.warn(1)
        await told_to_end(ending)
        shown = await world.until(lost, "Stopping")
        assert shown["status"]["reason"] == "Preempted"
        assert list(world.agents.drained) == ["dev-1"], "it takes no new pods"
        status = await world.shown()
        assert status["phase"] == State.UP
        assert f"gcp takes back {taken}" in status["message"]
        assert taken in status["rental"]["interruption"]["message"]

        ending.end(succeeded=False, reason="Cancelled")
        ended = (await world.until(lost, "Failed"))["status"]
        assert (ended["reason"], taken in ended["message"]) == ("Preempted", True)
        events = await world.engine.reading.events(lost)
        assert [taken in each.message for each in events if each.reason == "Preempted"] == [True]
        assert other.asked == []
        assert (await world.engine.reading.get(kept))["status"]["phase"] == "Running"

    play(world, scene)


def test_a_cluster_that_is_taken_whole_has_stopped_and_can_start_again(world: SpotWorld) -> None:
    async def scene() -> None:
        running, one = await world.running("one", 0)
        waiting, two = await world.running("two", 0)
        two.write("waiting", reason="Queued", message="waits")
        await world.warn(0, 1)
        await told_to_end(one)
        await told_to_end(two)
        one.end()
        await world.until(running, "Succeeded")  # it has done its work in time
        await world.take()
        two.end(succeeded=False, reason="HostLost")  # it has not
        ended = (await world.until(waiting, "Failed"))["status"]
        assert ended["reason"] == "Preempted"
        status = await world.shown()
        assert status["phase"] == State.STOPPED
        assert status["message"].startswith("its machines are gone: gcp takes back ")
        assert rates_of(world.clusters.record("dev").rates)[-1].hourly == 0

        await world.clusters.restart("dev")
        while world.phase() != State.UP:
            await asyncio.sleep(0.001)
        assert set(world.agents.drained.values()) == {""}, "new machines take pods"
        assert (await world.shown())["rental"]["interruption"] is None

    play(world, scene)


def test_a_machine_that_is_gone_without_a_notice_was_taken_too(world: SpotWorld) -> None:
    async def scene() -> None:
        lost, ending = await world.running("lost", 0)
        await world.take()
        await told_to_end(ending)
        gone: Json = {"phase": "Failed", "reason": "HostLost", "host": "dev-0"}
        ending.write("pod", pod="node-0-0", **gone, message="its host was lost", containers=[])
        ending.end(succeeded=False, reason="HostLost")
        ended = (await world.until(lost, "Failed"))["status"]
        assert (ended["reason"], ended["cause"]) == ("Preempted", "Preempted")
        assert "failure" not in ended, "that its host was lost is not the news"

    play(world, scene)


def test_a_job_that_may_go_elsewhere_does(world: SpotWorld) -> None:
    async def scene() -> None:
        job_id, ending = await world.running("job", 0, "local")
        await world.warn(0)
        await told_to_end(ending)
        ending.end(succeeded=False, reason="Cancelled")
        again = await until_begun(world.backend, job_id)
        again.run(attempt=1)
        again.end()
        status = (await world.until(job_id, "Succeeded"))["status"]
        (ended,) = status["endedAttempts"]
        assert (ended["reason"], ended["counts"]) == ("Preempted", False)

    play(world, scene)


def test_what_a_killed_server_has_only_written_is_done_by_the_next(world: SpotWorld) -> None:
    async def scene() -> None:
        lost, ending = await world.running("lost", 0)
        heard, world.rentals._watcher._heard = world.rentals._watcher._heard, []
        await world.warn(0)
        assert ending.asked == []
        world.clusters._rented.begin()  # as the next one does when it starts
        await told_to_end(ending)
        ending.end(succeeded=False, reason="Cancelled")
        await world.until(lost, "Failed")
        await world.take()
        assert (await world.shown())["phase"] == State.UP, "it is killed before it writes that"
        world.clusters._rented.begin()
        while world.phase() != State.STOPPED:
            await asyncio.sleep(0.001)
        world.rentals._watcher._heard = heard

    play(world, scene)


def test_what_a_machine_was_told_itself_counts_as_if_its_cloud_said_it(world: SpotWorld) -> None:
    async def scene() -> None:
        lost, ending = await world.running("lost", 1)
        told = {"at": "", "why": "preempted"}
        nodes = [{"host": "dev-0", "gpus": []}, {"host": "dev-1", "gpus": [], "notice": told}]
        world.agents.say("dev", nodes=nodes)
        await told_to_end(ending)
        world.agents.say("dev", nodes=nodes, message="as before")  # again, and nothing more
        assert f"gcp takes back {world.machine(1)}" in (await world.shown())["message"]
        ending.end(succeeded=False, reason="Cancelled")
        ended = (await world.until(lost, "Failed"))["status"]
        assert ended["reason"] == "Preempted"
        assert ended["message"].endswith(": preempted")
        assert [each.kind for each in await world.rentals.look()] == []

    play(world, scene)


def test_why_it_ends_is_still_known_if_it_has_ended_before_it_is_told(
    world: SpotWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asyncio.Event()

    async def refused(_handle: object) -> None:
        asked.set()
        raise ConflictError("there is no job here")

    async def scene() -> None:
        lost, ending = await world.running("lost", 0)
        monkeypatch.setattr(world.jobs, "cancel", refused)
        await world.warn(0)
        await asked.wait()
        ending.end(succeeded=False, reason="Cancelled")
        ended = (await world.until(lost, "Failed"))["status"]
        assert (ended["reason"], "gcp takes back" in ended["message"]) == ("Preempted", True)

    play(world, scene)


@dataclass(frozen=True)
class Case:
    name: str
    nodes: tuple[tuple[str, str], ...]
    """The phase and the host of each pod."""
    taken: tuple[str, ...]
    is_all: bool = False
    host: str = ""


@pytest.mark.parametrize(
    "case",
    [
        Case("it runs there", (("Running", "dev-1"),), ("dev-1",), host="dev-1"),
        Case("one of its pods does", (("Running", "dev-0"), ("Running", "dev-1")), ("dev-1",),
             host="dev-1"),
        Case("it runs elsewhere", (("Running", "dev-0"),), ("dev-1",)),
        Case("it ran there", (("Succeeded", "dev-1"), ("Running", "dev-0")), ("dev-1",)),
        Case("it waits", (("Pending", ""),), ("dev-1",)),
        Case("it waits for nothing", (("Pending", ""),), ("dev-0", "dev-1"), True, "dev-0"),
        Case("nothing is known of it", (), ("dev-0",), True, "dev-0"),
    ],
    ids=lambda case: case.name,
)  # fmt: skip
def test_which_machine_a_job_loses(case: Case) -> None:
    nodes = {str(index): {"phase": phase, "host": host} for index, (phase, host) in
             enumerate(case.nodes)}  # fmt: skip
    made = JobRecord(id="1", name="n", namespace="d", kind="TrainJob", backend=HERE)
    record = made.with_columns({"observed": {"nodes": nodes}})
    assert host_of(record, case.taken, is_all=case.is_all) == case.host
