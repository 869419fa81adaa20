import json
from pathlib import Path
from typing import Any

import pytest

from trainway.backends.base import Workload
from trainway.backends.kubernetes.form import Offer
from trainway.backends.kubernetes.job_objects import suspension
from trainway.backends.kubernetes.leader_worker_set import API, group_of, is_group, status_of
from trainway.backends.kubernetes.object_names import Names
from trainway.backends.kubernetes.planning import plan, remains
from trainway.backends.kubernetes.pods import Place, place_of
from trainway.backends.kubernetes.session import gangs_of
from trainway.backends.kubernetes.sites import Infra
from trainway.data.flight.objects import CacheSpec, cache_objects
from trainway.json_types import Json
from trainway.kube.resources import LEADER_WORKER_SETS, resource_of

GOLDEN = Path(__file__).parent / "testdata" / "cache-as-leaderworkerset.json"


def cache(workers: int = 2, **spec: Any) -> Json:
    made = cache_objects(CacheSpec("words", "s3://bucket/words", workers, "cache:1"))[-1]
    return {**made, "spec": {**made["spec"], **spec}}


def pod(index: int, *, ready: bool = True) -> Json:
    """A pod as the controller makes it from our templates."""
    group = group_of(cache())
    kind = "workerTemplate" if index else "leaderTemplate"
    template = group["spec"]["leaderWorkerTemplate"][kind]
    own = {"leaderworkerset.sigs.k8s.io/worker-index": str(index)}
    name = f"words-head-0-0-{index}" if index else "words-head-0-0"
    condition = {"type": "Ready", "status": str(ready)}
    return {
        "metadata": {"name": name, "labels": {**template["metadata"]["labels"], **own}},
        "spec": template["spec"],
        "status": {"phase": "Running", "conditions": [condition]},
    }


def test_what_is_sent_for_a_cache() -> None:
    jobset = cache()
    workload = Workload(
        id="0123456789ab", name="words", namespace="ml", jobset=jobset, objects=[], workdir="/",
        environ={}, port=29500, source=jobset, submitted=[],
    )  # fmt: skip
    request = plan(workload, Infra(("/config",), "test", "", "ml"), Offer(frozenset({API})))
    assert request.objects == [json.loads(GOLDEN.read_text())]
    assert resource_of(request.top) is LEADER_WORKER_SETS
    assert list(gangs_of(LEADER_WORKER_SETS)(request.top)) == ["words"]
    handle = request.handle
    assert (handle["kind"], handle["top"]) == ("LeaderWorkerSet", "words-head-0")
    assert "delete leaderworkersets," in remains(handle)
    assert suspension(handle, is_suspended=True) == {"spec": {"replicas": 0}}
    assert suspension(handle, is_suspended=False) == {"spec": {"replicas": 1}}


def test_the_head_alone() -> None:
    made = group_of(cache(0, suspend=True))["spec"]
    assert (made["replicas"], made["leaderWorkerTemplate"]["size"]) == (0, 1)
    group = made["leaderWorkerTemplate"]
    assert group["workerTemplate"] == group["leaderTemplate"]


def test_only_caches_are_groups() -> None:
    assert is_group(cache())
    assert is_group(cache(0))
    assert not is_group({**cache(), "metadata": {"name": "words"}})
    roles = cache()["spec"]["replicatedJobs"]
    assert not is_group(cache(replicatedJobs=[{**role, "replicas": 2} for role in roles]))
    assert not is_group(cache(replicatedJobs=roles[::-1]))
    several = {**roles[1], "name": "head"}
    assert not is_group(cache(replicatedJobs=[several]))


def test_an_image_may_have_its_own_program() -> None:
    roles = cache(0)["spec"]["replicatedJobs"]
    del roles[0]["template"]["spec"]["template"]["spec"]["containers"][0]["command"]
    group = group_of(cache(replicatedJobs=roles))["spec"]["leaderWorkerTemplate"]
    assert "command" not in group["leaderTemplate"]["spec"]["containers"][0]


def test_its_pods_have_the_places_that_jobset_gives() -> None:
    places = [place_of(pod(index)) for index in range(3)]
    assert places == [Place("head", 0, 0), Place("worker", 0, 0), Place("worker", 0, 1)]


@pytest.mark.parametrize(
    ("pods", "head", "worker"),
    [
        ([], (0, 0), (0, 0)),
        ([pod(0, ready=False)], (0, 1), (0, 0)),
        ([pod(0), pod(1)], (1, 1), (0, 1)),
        ([pod(0), pod(1), pod(2)], (1, 1), (1, 1)),
    ],
)
def test_how_it_fares(pods: list[Json], head: tuple[int, int], worker: tuple[int, int]) -> None:
    status = status_of(group_of(cache()), pods, {})
    counts = [(each["ready"], each["active"]) for each in status["replicatedJobsStatus"]]
    assert counts == [head, worker]
    assert "conditions" not in status


def test_it_is_suspended_and_goes_on() -> None:
    held = status_of(group_of(cache(suspend=True)), [], {})
    assert [(each["type"], each["status"]) for each in held["conditions"]] == [
        ("Suspended", "True")
    ]
    resumed = status_of(group_of(cache()), [pod(0)], held)
    assert [(each["type"], each["status"]) for each in resumed["conditions"]] == [
        ("Suspended", "False")
    ]


@pytest.mark.parametrize(
    ("kind", "name", "is_ours"),
    [
        ("LeaderWorkerSet", "words-head-0", True),
        ("Pod", "words-head-0-0", True),
        ("Pod", "words-head-0-0-2", True),
        ("Pod", "words-head-0-1", False),
        ("Pod", "words-0", False),
    ],
)
def test_which_events_are_about_it(kind: str, name: str, is_ours: bool) -> None:
    assert Names("words", {"head": 1, "worker": 1}).match(kind, name) is is_ours
