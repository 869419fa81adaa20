"""Whom a cluster is asked for, and how often."""

import asyncio
import logging
from collections.abc import Mapping

import pytest

from trainway.backends.kubernetes.usage import meter as meters
from trainway.backends.kubernetes.usage.meter import MOST_NODES, MeasuredJob, UsageMeter
from trainway.backends.kubernetes.usage.readings import Reading
from trainway.json_types import Json
from trainway.kube.errors import ApiError, ObjectNotFound, Refused, ServerUnavailable
from trainway.kube.requests import Request

METRICS = "/apis/metrics.k8s.io/"
NODES = "/api/v1/nodes/"


class Cluster:
    """Answers, and counts."""

    def __init__(self, **refusals: Exception) -> None:
        self.refusals = refusals
        self.paths: list[str] = []
        self.now = 0.0

    async def send(self, request: Request) -> Json:
        await asyncio.sleep(0)
        self.paths.append(request.path)
        is_metrics = request.path.startswith(METRICS)
        refusal = self.refusals.get("metrics" if is_metrics else "summary")
        if refusal is not None:
            raise refusal
        time = str(self.now)
        if is_metrics:
            namespace = request.path.split("/")[5]
            used = {"cpu": "500m", "memory": "1Mi"}
            return {
                "items": [
                    {
                        "metadata": {"name": name, "namespace": namespace},
                        "timestamp": time,
                        "containers": [{"usage": used}],
                    }
                    for name in ("a", "b", "other")
                ]
            }
        pods = [{"namespace": "ml", "name": name} for name in ("a", "b", "other")]
        cpu, memory = {"time": time, "usageNanoCores": 10**9}, {"workingSetBytes": 5}
        return {"pods": [{"podRef": pod, "cpu": cpu, "memory": memory} for pod in pods]}


class Job:
    """Hears what is told."""

    def __init__(self, nodes: Mapping[str, str], namespace: str = "ml") -> None:
        self.told: list[Mapping[str, Reading]] = []
        self.measured = MeasuredJob(namespace, ("job",), lambda: nodes, self.told.append)


def rounds(cluster: Cluster, jobs: list[Job], times: tuple[float, ...] = (1.0,)) -> None:
    async def measure() -> None:
        meter = UsageMeter(cluster, clock=lambda: cluster.now)
        for job in jobs:
            meter._jobs.append(job.measured)
        for now in times:
            cluster.now = now
            await meter.measure()

    asyncio.run(measure())


def test_a_namespace_is_one_request_however_many_jobs_it_has() -> None:
    jobs = [Job({"a": "n1"}), Job({"b": "n2"}), Job({"a": "n1"}, "team"), Job({}), Job({"c": "n"})]
    cluster = Cluster()
    rounds(cluster, jobs)
    assert [path.split("/")[5] for path in cluster.paths] == ["ml", "team"]
    heard = [[sorted(told) for told in job.told] for job in jobs]
    assert heard == [[["a"]], [["b"]], [["a"]], [], []]
    assert jobs[0].told[0]["a"] == Reading(50.0, 1 << 20, "1.0")


def test_without_metrics_each_node_is_one_request() -> None:
    cluster = Cluster(metrics=ObjectNotFound("the server could not find the resource"))
    jobs = [Job({"a": "n1", "b": "n1"}), Job({"a": "n1"}), Job({"x": "n2", "late": ""})]
    rounds(cluster, jobs, (1.0, 16.0))
    assert [path.split("/")[4] for path in cluster.paths[1:]] == ["n1", "n2", "n1", "n2"]
    assert sorted(jobs[0].told[0]) == ["a", "b"]
    assert len(jobs[1].told) == 2
    assert jobs[2].told == []


@pytest.mark.parametrize(
    "metrics", [ObjectNotFound("none"), Refused("no"), ServerUnavailable("down"), TimeoutError()]
)
def test_what_is_forbidden_is_asked_for_rarely_and_logged_once(
    metrics: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, meters.__name__)
    cluster = Cluster(metrics=metrics, summary=Refused("nodes/proxy is forbidden"))
    job = Job({f"p{number}": f"n{number}" for number in range(20)})
    rounds(cluster, [job], tuple(1.0 + 15 * number for number in range(120)))
    asked = [path for path in cluster.paths if path.startswith(NODES)]
    assert len(asked) == 3
    assert job.told == []
    assert len([record for record in caplog.records if record.name == meters.__name__]) == 2


def test_a_node_that_does_not_answer_does_not_hold_up_the_others() -> None:
    class Broken(Cluster):
        async def send(self, request: Request) -> Json:
            if "/n1/" in request.path:
                self.paths.append(request.path)
                raise ApiError("error trying to reach service", status=500)
            return await super().send(request)

    cluster = Broken(metrics=ObjectNotFound("none"))
    job = Job({"a": "n1", "b": "n2"})
    rounds(cluster, [job], (1.0, 16.0, 31.0))
    assert len(job.told) == 3
    asked = [path.split("/")[4] for path in cluster.paths if path.startswith(NODES)]
    assert asked == ["n1", "n2", "n2", "n2"]


def test_of_very_many_nodes_each_has_its_turn() -> None:
    cluster = Cluster(metrics=ObjectNotFound("none"))
    nodes = [f"n{number}" for number in range(MOST_NODES * 2)]
    rounds(cluster, [Job({f"p{node}": node for node in nodes})], (1.0, 16.0, 31.0))
    asked = [path.split("/")[4] for path in cluster.paths if path.startswith(NODES)]
    assert len(asked) == 3 * MOST_NODES
    assert set(asked[: 2 * MOST_NODES]) == set(nodes)


def test_a_round_that_fails_is_not_the_last(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(meters, "FIRST_S", 0.0)
    monkeypatch.setattr(meters, "PERIOD_S", 0.001)

    async def live() -> None:
        again = asyncio.Event()

        def tell(_readings: Mapping[str, Reading]) -> None:
            if not caplog.records:
                raise RuntimeError("unforeseen")
            again.set()

        meter = UsageMeter(Cluster())
        with meter.measuring(Job({"a": "n1"}).measured._replace(tell=tell)):
            async with asyncio.timeout(60):
                await again.wait()

    asyncio.run(live())
    assert [record.message for record in caplog.records] == ["what pods use is not known"]


def test_it_measures_while_there_are_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meters, "FIRST_S", 0.0)
    monkeypatch.setattr(meters, "PERIOD_S", 0.001)
    cluster = Cluster()

    async def live() -> None:
        meter = UsageMeter(cluster)
        heard = asyncio.Event()
        job = Job({"a": "n1"})
        listening = job.measured._replace(tell=lambda _readings: heard.set())
        with meter.measuring(listening), meter.measuring(job.measured):
            task = meter._task
            async with asyncio.timeout(60):
                await heard.wait()
        assert meter._task is None
        assert task is not None
        with pytest.raises(asyncio.CancelledError):
            await task
        await meter.close()

    asyncio.run(live())
