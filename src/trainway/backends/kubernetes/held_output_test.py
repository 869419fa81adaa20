"""Pods that stay until the server has what they wrote."""

from dataclasses import dataclass, field

import pytest

from trainway.backends.kubernetes.held_output import holding, is_held, is_waiting, wants_output
from trainway.backends.kubernetes.pods import HOLDER
from trainway.backends.kubernetes.variables import Told, in_jobset
from trainway.jobset.labels import CHECKPOINT, EXPORT
from trainway.json_types import Json

RUNNING: Json = {"running": {}}


def ended(code: int = 0) -> Json:
    return {"terminated": {"exitCode": code}}


@dataclass(frozen=True)
class Case:
    states: Json
    waits: bool
    held: bool = True
    policy: str = "Never"
    metadata: Json = field(default_factory=dict)


CASES = {
    "runs": Case({"node": RUNNING, HOLDER: RUNNING}, waits=False),
    "has ended": Case({"node": ended(), HOLDER: RUNNING}, waits=True),
    "has failed": Case({"node": ended(1), HOLDER: RUNNING}, waits=True),
    "will be started again": Case(
        {"node": ended(1), HOLDER: RUNNING}, waits=False, policy="OnFailure"
    ),
    "will not be started again": Case(
        {"node": ended(), HOLDER: RUNNING}, waits=True, policy="OnFailure"
    ),
    "one of two has ended": Case({"a": ended(), "b": RUNNING, HOLDER: RUNNING}, waits=False),
    "was let go": Case({"node": ended(), HOLDER: ended()}, waits=False, held=False),
    "has none": Case({"node": ended()}, waits=False, held=False),
    "is deleted": Case(
        {"node": ended(), HOLDER: RUNNING},
        waits=False,
        held=False,
        metadata={"deletionTimestamp": "2026-11-18T07:00:00Z"},
    ),
    "is new": Case({}, waits=False, held=False),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_pod_waits_when_all_but_its_holder_has_ended(case: Case) -> None:
    statuses = [{"name": name, "state": state} for name, state in case.states.items()]
    pod = {
        "metadata": case.metadata,
        "spec": {"restartPolicy": case.policy},
        "status": {"containerStatuses": statuses},
    }
    assert (is_waiting(pod), is_held(pod)) == (case.waits, case.held)


def test_only_jobs_that_name_a_bucket_are_held() -> None:
    for name in (EXPORT, CHECKPOINT):
        assert wants_output({"metadata": {"annotations": {name: "s3://bucket/run"}}})
    assert not wants_output({"metadata": {"annotations": {"other": "s3://bucket/run"}}})
    assert not wants_output({"metadata": {}})


def role(name: str, container: Json) -> Json:
    pod = {"spec": {"containers": [{"name": "node", "image": "i", **container}]}}
    return {"name": name, "template": {"spec": {"template": pod}}}


def test_the_holder_is_like_the_container_beside_it_but_small() -> None:
    limits = {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "8"}
    roles = [
        role("node", {"resources": {"limits": limits, "requests": {"cpu": "4"}}}),
        role("own", {"env": [{"name": "TRAINWAY_OUTPUT_DIR", "value": "/data"}]}),
        role("dataset-initializer", {}),
    ]
    jobset = in_jobset({"spec": {"replicatedJobs": roles}}, Told("id", "name"))

    held, *others = (
        each["template"]["spec"]["template"]["spec"]["containers"]
        for each in holding(jobset)["spec"]["replicatedJobs"]
    )

    assert [container["name"] for container in held] == ["node", HOLDER]
    assert held[1]["image"] == "i"
    small = {"cpu": "50m", "memory": "128Mi"}
    assert held[1]["resources"] == {"limits": small, "requests": {"cpu": "50m"}}
    assert [len(containers) for containers in others] == [1, 1]
