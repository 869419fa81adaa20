import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from trainway.backends.base import AgentStartError, BackendSettings, Feature, Workload
from trainway.backends.pool.backend import PoolBackend
from trainway.backends.pool.pool_agent import PoolAgent
from trainway.backends.pool.site import Site
from trainway.backends.pool.testing import FakePoolAgent
from trainway.compiler.network import JobIdentity
from trainway.errors import NotFoundError, TrainwayError, UnavailableError, UsageError
from trainway.jobset.labels import ISOLATION
from trainway.json_types import Json

HOSTS = [{"name": "a1", "destination": "a1", "port": 22, "python": "python3"}]
CONTAINER = {"name": "main", "image": "torch:1", "command": ["true"]}
JOB = {"template": {"spec": {"containers": [CONTAINER]}}, "parallelism": 1, "completions": 1}
JOBSET: Json = {
    "kind": "JobSet",
    "metadata": {"name": "demo"},
    "spec": {"replicatedJobs": [{"name": "node", "replicas": 1, "template": {"spec": JOB}}]},
}


class OneSite:
    """A configuration that may be lost."""

    family = "ssh"

    def __init__(self) -> None:
        self.is_lost = False

    def names(self) -> list[str]:
        return ["lab"]

    def find(self, target: str) -> Site:
        if self.is_lost:
            raise NotFoundError(f"there is no pool {target}", hint="write it down")
        return Site(target or "lab", "lab")

    def hosts(self, target: str) -> list[Json]:
        self.find(target)
        return HOSTS


class Play:
    """A backend with a pool agent that answers as the test says."""

    def __init__(self, home: Path) -> None:
        self.answers: dict[str, Json] = {}
        self.fake = FakePoolAgent(lambda request: self.answers.get(request["op"], {"ok": True}))
        self.sites = OneSite()
        self.backend = PoolBackend(BackendSettings(home, "lab"), self.sites)
        self.backend._agents["lab"] = PoolAgent(home / "pools" / "lab", self.fake)
        self.workload = Workload(
            id="abc",
            name="demo",
            namespace="ns",
            jobset=JOBSET,
            objects=[],
            workdir="/work",
            environ={"SECRET": "of this machine"},
            port=20_000,
        )

    @property
    def asked(self) -> list[str]:
        return [request["op"] for request in self.fake.asked]


def play(home: Path, acts: Callable[[Play], Awaitable[None]]) -> None:
    async def run() -> None:
        stage = Play(home)
        try:
            await acts(stage)
        finally:
            await stage.fake.stop()

    asyncio.run(run())


def test_a_job_is_written_down_and_handed_over(tmp_path: Path) -> None:
    async def acts(stage: Play) -> None:
        request = stage.backend.plan(stage.workload)
        await stage.backend.submit(request)
        plan = tmp_path / "jobs" / "abc" / "plan.json"
        first = plan.read_bytes()
        await stage.backend.submit(request)
        assert plan.read_bytes() == first
        assert stage.asked == ["configure", "submit", "submit"]
        assert stage.fake.asked[1]["directory"] == str(plan.parent)
        written = json.loads(first)
        assert set(written["status"]["files"]) == {"certificate", "key", "token"}
        assert written["env"] == {}
        assert plan.stat().st_mode & 0o077 == 0

    play(tmp_path, acts)


def test_a_job_goes_on_without_its_configuration(tmp_path: Path) -> None:
    async def acts(stage: Play) -> None:
        request = stage.backend.plan(stage.workload)
        await stage.backend.submit(request)
        stage.sites.is_lost = True
        await stage.backend.submit(request)
        assert await stage.backend.recover(request.handle)
        assert stage.asked == ["configure", "submit", "submit", "submit"]

    play(tmp_path, acts)


def test_a_new_job_needs_a_pool_that_is_there(tmp_path: Path) -> None:
    async def acts(stage: Play) -> None:
        request = stage.backend.plan(stage.workload)
        stage.sites.is_lost = True
        with pytest.raises(NotFoundError, match="there is no pool lab"):
            await stage.backend.look()
        with pytest.raises(NotFoundError, match="there is no pool lab"):
            await stage.backend.submit(request)
        assert not (tmp_path / "jobs").exists()

    play(tmp_path, acts)


def test_what_is_wanted_is_told_to_the_agent(tmp_path: Path) -> None:
    async def acts(stage: Play) -> None:
        handle = stage.backend.plan(stage.workload).handle
        await stage.backend.suspend(handle)
        await stage.backend.resume(handle)
        await stage.backend.cancel(handle)
        assert [(request["op"], request["id"]) for request in stage.fake.asked] == [
            ("suspend", "abc"),
            ("resume", "abc"),
            ("cancel", "abc"),
        ]

    play(tmp_path, acts)


def test_a_job_that_the_agent_has_forgotten_can_still_be_cancelled(tmp_path: Path) -> None:
    async def acts(stage: Play) -> None:
        request = stage.backend.plan(stage.workload)
        await stage.backend.submit(request)
        stage.answers["cancel"] = {"ok": False, "error": "no such job"}
        with pytest.raises(TrainwayError, match="no such job"):
            await stage.backend.cancel(request.handle)
        assert stage.asked[2:] == ["cancel", "submit", "cancel"]
        assert stage.fake.asked[-1]["grace"] == 0

    play(tmp_path, acts)


def test_a_job_that_ends_while_its_agent_is_told_to_cancel_it_is_cancelled(tmp_path: Path) -> None:
    async def acts(stage: Play) -> None:
        request = stage.backend.plan(stage.workload)
        await stage.backend.submit(request)
        stage.answers["cancel"] = {"ok": False, "code": "not_found", "error": "no job abc here"}
        await stage.backend.cancel(request.handle)
        assert stage.asked[2:] == ["cancel", "submit", "cancel"]

    play(tmp_path, acts)


def test_nothing_is_left_of_a_deleted_job(tmp_path: Path) -> None:
    async def acts(stage: Play) -> None:
        request = stage.backend.plan(stage.workload)
        await stage.backend.submit(request)
        await stage.backend.delete(request.handle)
        assert stage.asked[-1] == "forget"
        assert not Path(request.directory).exists()
        assert not await stage.backend.recover(request.handle)

    play(tmp_path, acts)


def test_a_job_that_the_store_has_lost_is_found(tmp_path: Path) -> None:
    async def acts(stage: Play) -> None:
        request = stage.backend.plan(stage.workload)
        await stage.backend.submit(request)
        (found,) = stage.backend.strays(tuple)
        assert stage.backend.plan(found).handle == request.handle
        assert stage.backend.strays(lambda: ["abc"]) == []

    play(tmp_path, acts)


def test_containers_are_refused_and_images_not_used(tmp_path: Path) -> None:
    backend = PoolBackend(BackendSettings(tmp_path, "lab"), OneSite())
    errors, warnings = backend.problems(JOBSET, JOBSET)
    assert errors == []
    assert warnings == ["runs with the hosts' own programs: the image torch:1 is not used"]
    contained = {**JOBSET, "metadata": {"annotations": {ISOLATION: "container"}}}
    with pytest.raises(UsageError, match="containers on hosts are not supported yet"):
        backend.problems(contained, contained)
    assert "containers are not supported there yet" in backend.capabilities()[Feature.IMAGES]


def test_two_jobs_meet_on_different_ports(tmp_path: Path) -> None:
    backend = PoolBackend(BackendSettings(tmp_path, "lab"), OneSite())
    job = JobIdentity("demo", "ns", "demo")
    one, other = backend.network(job).port, backend.network(job).port
    assert one != other
    assert all(20_000 <= port < 30_000 for port in (one, other))


def test_a_new_job_may_be_given_up_when_the_pool_has_no_agent(tmp_path: Path) -> None:
    async def acts(stage: Play) -> None:
        stage.fake.fails_with = "no memory"
        request = stage.backend.plan(stage.workload)
        with pytest.raises(AgentStartError, match="pool lab could not be started: no memory"):
            await stage.backend.submit(request)
        with pytest.raises(AgentStartError):
            await stage.backend.cancel(request.handle)

    play(tmp_path, acts)


def test_a_job_that_may_be_on_its_hosts_is_not_given_up(tmp_path: Path) -> None:
    async def acts(stage: Play) -> None:
        request = stage.backend.plan(stage.workload)
        await stage.backend.submit(request)
        await stage.fake.stop()
        stage.fake.fails_with = "no memory"
        for act in (
            stage.backend.submit(request),
            stage.backend.recover(request.handle),
            stage.backend.cancel(request.handle),
        ):
            with pytest.raises(UnavailableError, match="no memory") as caught:
                await act
            assert not isinstance(caught.value, AgentStartError)

    play(tmp_path, acts)
