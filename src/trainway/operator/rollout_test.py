"""When an installed operator counts as up, and what is told of one that is not."""

from dataclasses import dataclass

import pytest

from trainway.json_types import Json
from trainway.operator.rollout import has_no_image, is_up, troubles


@dataclass(frozen=True)
class Case:
    name: str
    is_up: bool
    deployment: Json | None


def deployment(generation: int = 1, **status: int) -> Json:
    return {"metadata": {"generation": generation}, "spec": {"replicas": 2}, "status": status}


READY = {"observedGeneration": 1, "updatedReplicas": 2, "availableReplicas": 2}
CASES = (
    Case("gone", False, None),
    Case("new", False, deployment()),
    Case("one is missing", False, deployment(**{**READY, "availableReplicas": 1})),
    Case("old pods answer", False, deployment(**{**READY, "updatedReplicas": 1})),
    Case("the change is not seen yet", False, deployment(generation=2, **READY)),
    Case("up", True, deployment(**READY)),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_all_pods_of_the_newest_version_answer(case: Case) -> None:
    assert is_up(case.deployment) is case.is_up


def test_what_keeps_the_pods_is_told_once() -> None:
    waiting = {"reason": "ImagePullBackOff", "message": "no such image"}
    pulling = {"status": {"containerStatuses": [{"state": {"waiting": waiting}}]}}
    crashed = {"state": {"running": {}}, "lastState": {"terminated": {"exitCode": 2}}}
    unscheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    pods: list[Json] = [
        pulling,
        pulling,
        {"status": {"containerStatuses": [crashed], "conditions": [unscheduled]}},
        {"status": {"containerStatuses": [{"state": {"waiting": {"reason": "PodInitializing"}}}]}},
    ]
    assert has_no_image(troubles(pods))
    assert not has_no_image(troubles(pods[2:]))
    assert troubles(pods) == [
        "ImagePullBackOff: no such image",
        "its container exited with 2",
        "Unschedulable",
    ]
