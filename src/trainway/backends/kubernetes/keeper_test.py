from dataclasses import dataclass
from typing import Any

import pytest

from trainway.backends.kubernetes.keeper import (
    failed_keeper,
    keeper_for,
    needs_keeper,
    running_keeper,
)
from trainway.backends.kubernetes.testing import pod
from trainway.backends.kubernetes.variables import OUTPUT, VOLUME
from trainway.json_types import Json

READY = {"conditions": [{"type": "Ready", "status": "True"}], "phase": "Running"}
MOUNT = {"name": VOLUME, "mountPath": OUTPUT}


def given(*states: Json, **status: Any) -> Json:
    keepers = [
        {"name": f"trainway-keeper-{number}", "state": state} for number, state in enumerate(states)
    ]
    return pod(status={**READY, "ephemeralContainerStatuses": keepers, **status})


def test_a_keeper_is_like_the_container_whose_output_it_keeps() -> None:
    path = {"name": "PATH", "value": "/opt/bin"}
    other = {"name": "x", "mountPath": "/x", "subPath": "y"}
    main = {
        "name": "main",
        "image": "team/torch:1",
        "securityContext": {"runAsUser": 7},
        "env": [path, {"name": "KEY", "value": "hidden"}],
        "volumeMounts": [MOUNT, other],
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
    }
    made = pod() | {"spec": {"containers": [{"name": "sidecar"}, main]}}

    keeper = keeper_for(made | {"spec": made["spec"] | {"ephemeralContainers": [{"name": "a"}]}})

    assert keeper is not None
    assert keeper.pop("command")[:3] == ["python3", "-I", "-c"]
    assert keeper == {
        "name": "trainway-keeper-1",
        "image": "team/torch:1",
        "securityContext": {"runAsUser": 7},
        "env": [path],
        "volumeMounts": [MOUNT],
    }


def test_a_pod_without_an_output_directory_of_ours_needs_none() -> None:
    assert keeper_for(pod()) is None


@dataclass(frozen=True)
class Case:
    name: str
    pod: Json
    needs: bool
    keeper: str | None = None
    problem: str = ""


GONE = {"terminated": {"reason": "Completed"}}
BROKEN = {"terminated": {"reason": "StartError", "message": 'exec: "python3": not found'}}
RUNS: Json = {"running": {}}
CREATING = {"waiting": {"reason": "ContainerCreating"}}
CASES = [
    Case("running", given(), True),
    Case("kept", given(RUNS), False, "trainway-keeper-0"),
    Case("kept again", given(GONE, RUNS), False, "trainway-keeper-1"),
    Case("starting", given(CREATING), True),
    Case("broken", given(BROKEN), True, None, 'exec: "python3": not found'),
    Case("again", given(BROKEN, CREATING), True),
    Case("over", given(phase="Succeeded"), False),
    Case("node lost", given(conditions=[]), False),
    Case("a pod of others", {"metadata": {"name": "x"}, "status": READY}, False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_which_pods_have_a_keeper(case: Case) -> None:
    assert needs_keeper(case.pod) is case.needs
    assert running_keeper(case.pod) == case.keeper
    assert failed_keeper(case.pod) == case.problem


def test_a_pod_that_ends_gets_none_any_more() -> None:
    ending = given()
    ending["metadata"]["deletionTimestamp"] = "now"
    assert not needs_keeper(ending)
