"""Who waits for what, over HTTP."""

import json
from pathlib import Path
from typing import Any

from trainway.backends.queues import Queue, QueueState, Quota, TellsQueues, Waiter
from trainway.backends.testing import FakeBackend
from trainway.engine.ids import Ids
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord, JobSpec
from trainway.errors import UnavailableError
from trainway.jobset.quantity import Quantity
from trainway.server.testing_site import Site, play

HOSTILE = "<img src=x onerror=alert(1)>"
IDS = Ids()


class _Kueue(FakeBackend):
    """A backend with queues of its own, which may be away."""

    name = "k8s/test"
    schedules = True
    is_away = False

    async def queue_states(self) -> list[QueueState]:
        if self.is_away:
            raise UnavailableError("it is away", hint="look again")
        quota = Quota("a100", "gpu", Quantity.parse(8), Quantity.parse(9), Quantity.parse(1))
        queue = Queue("team", "ml", "all", 2, 1, quotas=(quota,))
        theirs = Waiter("w1", 1, HOSTILE, "2026-11-17T09:00:00Z", 7, "TrainJob theirs", "theirs")
        ours = Waiter("w2", 2, "no quota", owner="TrainJob mine", top="mine")
        return [QueueState(queue, (theirs, ours))]


def _job(name: str, backend: str, phase: Phase, **more: Any) -> JobRecord:
    return JobRecord(
        id=IDS.new(), name=name, namespace="d", kind="JobSet", backend=backend, phase=phase,
        demand=json.dumps({"cpus": "2", "gpus": 1}), **more,
    )  # fmt: skip


def _add(site: Site, *jobs: JobRecord) -> None:
    assert site.world.store.add_all([(job, JobSpec([], {}, {}, []), []) for job in jobs], None)


def test_our_jobs_wait_by_backend_and_in_order(tmp_path: Path) -> None:
    def placed(position: int) -> str:
        return json.dumps({"waiting": {"position": position, "reason": "Queued"}})

    async def scene(site: Site) -> None:
        _add(
            site,
            _job("second", "ssh/lab", Phase.QUEUED, observed=placed(2)),
            _job("first", "ssh/lab", Phase.QUEUED, observed=placed(1), message=HOSTILE),
            _job("urgent", "slurm/hpc", Phase.QUEUED, priority=9),
            _job("never", "slurm/hpc", Phase.INADMISSIBLE),
            _job("runs", "ssh/lab", Phase.RUNNING),
            _job("over", "ssh/lab", Phase.SUCCEEDED),
        )
        status, answer = await site.ask("GET", "/queues")
        assert status == 200
        found = {item["name"]: item for item in answer["items"]}
        lab, hpc, local = found["ssh/lab"], found["slurm/hpc"], found["local"]
        assert [job["metadata"]["name"] for job in lab["jobs"]] == ["first", "second"]
        assert [job["status"]["queuePosition"] for job in lab["jobs"]] == [1, 2]
        assert lab["jobs"][0]["status"]["message"] == HOSTILE
        assert (lab["running"], lab["waiting"], lab["gpus"], lab["cpus"]) == (1, 2, 1, 2.0)
        assert [job["metadata"]["name"] for job in hpc["jobs"]] == ["urgent", "never"]
        assert (local["jobs"], local["totalCpus"]) == ([], 4.0)

    play(tmp_path, scene)


def test_a_backend_tells_who_waits_in_its_queues(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        backend = _Kueue()
        assert isinstance(backend, TellsQueues)
        site.world.engine.registry.put(backend)
        submitted = {"top": "mine", "namespace": "ml"}
        mine = _job("mine", "k8s/test/ml", Phase.QUEUED, handle=json.dumps(submitted))
        submitted = {"top": "theirs", "namespace": "other"}
        alike = _job("alike", "k8s/test/other", Phase.QUEUED, handle=json.dumps(submitted))
        _add(site, mine, alike)
        body = json.dumps({"backend": "k8s/test"}).encode()
        status, answer = await site.ask("POST", "/backends/queues", body)
        assert (status, answer["tells"], answer["problem"]) == (200, True, "")
        (queue,) = answer["queues"]
        assert (queue["name"], queue["clusterQueue"], queue["total"]) == ("team", "all", 2)
        assert queue["quotas"][0]["borrowed"] == "1"
        theirs, ours = queue["waiting"]
        assert (theirs["reason"], theirs["priority"], theirs["job"]) == (HOSTILE, 7, "")
        assert (ours["position"], ours["job"]) == (2, mine.id)
        backend.is_away = True
        _, answer = await site.ask("POST", "/backends/queues", body)
        assert (answer["queues"], answer["problem"], answer["hint"]) == (
            [], "it is away", "look again",
        )  # fmt: skip

    play(tmp_path, scene)


def test_a_backend_without_queues_says_so(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        for backend, expected in (("local", 200), ("nowhere", 404), ("x" * 254, 422)):
            body = json.dumps({"backend": backend}).encode()
            status, answer = await site.ask("POST", "/backends/queues", body)
            assert status == expected
            if expected == 200:
                assert (answer["tells"], answer["queues"]) == (False, [])

    play(tmp_path, scene)
