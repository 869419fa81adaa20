import json
from typing import Any

from trainway.backends.pod_demand import pod_demands
from trainway.jobset.labels import CANDIDATES
from trainway.json_types import Json


def role(name: str, requests: Json, replicas: int = 1, **job: Any) -> Json:
    container = {"name": "main", "resources": {"requests": requests}}
    spec = {"parallelism": 1, "completions": 1, "template": {"spec": {"containers": [container]}}}
    return {"name": name, "replicas": replicas, "template": {"spec": {**spec, **job}}}


def jobset(*roles: Json, **annotations: Any) -> Json:
    return {"metadata": {"annotations": annotations}, "spec": {"replicatedJobs": list(roles)}}


def test_every_pod_has_its_own() -> None:
    launcher = role("launcher", {"cpu": "500m"})
    workers = role("worker", {"cpu": 2, "memory": "1Gi", "nvidia.com/gpu": 1}, replicas=2)
    assert pod_demands(jobset(launcher, workers)) == [
        {"pod": "launcher-0-0", "cpus": 0.5, "memory": 0, "gpus": 0},
        {"pod": "worker-0-0", "cpus": 2, "memory": 2**30, "gpus": 1},
        {"pod": "worker-1-0", "cpus": 2, "memory": 2**30, "gpus": 1},
    ]


def test_pods_that_run_after_others_need_nothing_more() -> None:
    found = pod_demands(jobset(role("node", {"cpu": 1}, parallelism=2, completions=3)))
    assert [(item["pod"], item["cpus"]) for item in found] == [
        ("node-0-0", 1),
        ("node-0-1", 1),
        ("node-0-2", 0),
    ]


def test_a_task_may_ask_for_a_part_of_a_gpu() -> None:
    node = role("node", {"nvidia.com/gpu": 1})
    told = {"node": {"ordered": False, "candidates": [{"accelerators": "A100:0.5"}]}}
    (found,) = pod_demands(jobset(node, **{CANDIDATES: json.dumps(told)}))
    assert found["gpus"] == 0.5


def test_whatever_else_stands_in_the_annotation_counts_nothing() -> None:
    for text in ("{", "[]", '{"node": {}}', '{"node": {"candidates": [{"accelerators": "A:2"}]}}'):
        (found,) = pod_demands(jobset(role("node", {"nvidia.com/gpu": 2}), **{CANDIDATES: text}))
        assert found["gpus"] == 2
