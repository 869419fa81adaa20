"""The JobSet of a cache, for processes and for pods."""

from typing import Any

import pytest

from trainway.data.flight.objects import CacheSpec, cache_objects
from trainway.jobset.admission import validate_create, with_webhook_defaults


def roles(objects: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        each["name"]: each["template"]["spec"] for each in objects[-1]["spec"]["replicatedJobs"]
    }


def container(role: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = role["template"]["spec"]["containers"][0]
    return found


def test_processes_of_one_machine_listen_where_only_it_reads() -> None:
    spec = CacheSpec("demo", "/t", workers=2, is_here=True)
    found = roles(cache_objects(spec))
    assert spec.port == 16696  # by its name, so that it stays the same
    assert container(found["head"])["command"] == [
        "python3", "-m", "trainway.data.flight", "head", "127.0.0.1", "16696", "--table", "/t",
        "--workers", "2", "--health-port", "16697", "--advertise", "demo-head-0-0.demo",
        "--folder", "/cache",
    ]  # fmt: skip
    assert container(found["worker"])["command"] == [
        "python3", "-m", "trainway.data.flight", "worker", "127.0.0.1", "0", "--head",
        "demo-head-0-0.demo:16696", "--health-port", "0", "--folder", "/cache",
    ]  # fmt: skip


def test_pods_have_upstreams_ports_and_probes() -> None:
    found = roles(cache_objects(CacheSpec("demo", "s3://b/t", 3, "cache:1")))
    worker = found["worker"]
    assert worker["completions"] == 3
    assert container(worker) == {
        "name": "cache",
        "command": [
            "python3", "-m", "trainway.data.flight", "worker", "0.0.0.0", "50051", "--head",  # noqa: S104
            "demo-head-0-0.demo-head-0:50051", "--health-port", "8080", "--folder", "/cache",
        ],
        "volumeMounts": [{"name": "cache", "mountPath": "/cache"}],
        "image": "cache:1",
        "ports": [{"containerPort": 50051}, {"containerPort": 8080}],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}},
    }  # fmt: skip


def test_a_head_that_says_what_is_wrong_ends_the_job_and_a_killed_one_is_replaced() -> None:
    found = roles(cache_objects(CacheSpec("demo", "/t", 1)))
    (rule,) = found["head"]["podFailurePolicy"]["rules"]
    assert rule == {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1, 2, 3]}}
    assert found["head"]["template"]["spec"]["restartPolicy"] == "Never"
    assert found["worker"]["template"]["spec"]["restartPolicy"] == "OnFailure"


def test_a_token_is_in_a_secret_and_nowhere_else() -> None:
    secret, jobset = cache_objects(CacheSpec("demo", "/t", has_token=True), "hush")
    assert secret["stringData"] == {"TRAINWAY_CACHE_TOKEN": "hush"}
    assert "hush" not in str(jobset)
    assert container(roles([jobset])["head"])["env"][0]["valueFrom"]["secretKeyRef"] == {
        "name": secret["metadata"]["name"],
        "key": "TRAINWAY_CACHE_TOKEN",
    }


def test_the_keys_of_a_table_are_there_too() -> None:
    keys = {"AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "hush"}
    secret, jobset = cache_objects(CacheSpec("demo", "s3://b/t", 1, "image"), keys=keys)
    assert secret["stringData"] == keys
    assert "hush" not in str(jobset)
    for role in roles([jobset]).values():
        assert [each["name"] for each in container(role)["env"]] == list(keys)


@pytest.mark.parametrize("spec", [CacheSpec("demo", "/t"), CacheSpec("demo", "/t", 2, "image")])
def test_jobset_admits_it(spec: CacheSpec) -> None:
    (jobset,) = cache_objects(spec)
    assert validate_create(with_webhook_defaults(jobset)) == []
    assert list(roles([jobset])) == ["head", "worker"][: 1 + bool(spec.workers)]
