import os
import subprocess
from dataclasses import dataclass, field
from typing import Any

import pytest

from trainway.backends.kubernetes.continuation import (
    INIT,
    awaiting,
    counting_on,
    with_restarts_left,
)
from trainway.backends.kubernetes.variables import OUTPUT, Told, in_jobset
from trainway.json_types import Json


def jobset(**container: Any) -> Json:
    main = {"name": "main", "image": "python", **container}
    template = {"spec": {"containers": [main], "initContainers": [{"name": "own"}]}}
    role = {"name": "node", "template": {"spec": {"template": template}}}
    return {"kind": "JobSet", "spec": {"replicatedJobs": [role]}}


def pod_of(made: Json) -> Json:
    pod: Json = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    return pod


def test_pods_begin_with_a_container_that_waits_for_the_output() -> None:
    given = in_jobset(jobset(securityContext={"runAsUser": 7}), Told("id", "demo"))
    pod = pod_of(awaiting(given))

    first, second = pod["initContainers"]
    assert (first["name"], second["name"]) == (INIT, "own")
    assert (first["image"], first["securityContext"]) == ("python", {"runAsUser": 7})
    assert OUTPUT in [mount["mountPath"] for mount in first["volumeMounts"]]
    assert {"name": INIT, "emptyDir": {}} in pod["volumes"]
    assert len(pod_of(given)["initContainers"]) == 1


def test_pods_with_an_output_directory_of_their_own_wait_for_nothing() -> None:
    own = jobset(env=[{"name": "TRAINWAY_OUTPUT_DIR", "value": "/data"}])
    (role,) = own["spec"]["replicatedJobs"]
    del role["template"]["spec"]["template"]["spec"]["initContainers"]
    given = in_jobset(own, Told("id", "demo"))
    assert awaiting(given) == given


@dataclass(frozen=True)
class Case:
    name: str
    most: int | None
    counted: int
    left: int | None
    more: Json = field(default_factory=dict)


CASES = [
    Case("none-so-far", 3, 0, 3),
    Case("some", 3, 2, 1, {"rules": []}),
    Case("more-than-there-may-be", 1, 5, 0),
    Case("no-policy", None, 5, None),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_restarts_elsewhere_count(case: Case) -> None:
    policy = {} if case.most is None else {"failurePolicy": {"maxRestarts": case.most, **case.more}}
    made = with_restarts_left({"spec": policy}, {"restartsCountTowardsMax": case.counted})
    expected = {} if case.left is None else {"maxRestarts": case.left, **case.more}
    assert made["spec"].get("failurePolicy", {}) == expected


def told_attempt(container: Json, attempt: int) -> str:
    """What a container of that attempt says that its attempt is."""
    words = [word.replace("$$", "$") for word in container["command"]]  # as Kubernetes does
    env = {**os.environ, "TRAINWAY_RESTART_ATTEMPT": str(attempt)}
    return subprocess.run(
        [*words, *container["args"]], env=env, capture_output=True, text=True, check=True
    ).stdout


def test_attempts_are_counted_on_from_other_places() -> None:
    command = {
        "command": ["sh", "-c", 'echo "$TRAINWAY_RESTART_ATTEMPT $*"'],
        "args": ["sh", "a b"],
    }
    given = in_jobset(jobset(**command), Told("id", "demo"))
    (container,) = pod_of(counting_on(given, 3))["containers"]
    assert [told_attempt(container, attempt) for attempt in (0, 2)] == ["3 a b\n", "5 a b\n"]
    assert counting_on(given, 0) is given

    job = {"kind": "Job", "spec": {"template": {"spec": pod_of(given)}}}
    made = counting_on(job, 3)["spec"]["template"]["spec"]["containers"]
    assert told_attempt(made[0], 0) == "3 a b\n"


@pytest.mark.parametrize(
    "container",
    [{}, {"command": ["sh"], "env": [{"name": "TRAINWAY_RESTART_ATTEMPT", "value": "7"}]}],
    ids=["a program of the image", "told by its author"],
)
def test_what_cannot_be_told_its_attempt_stays_as_it_is(container: Json) -> None:
    given = in_jobset(jobset(**container), Told("id", "demo"))
    assert counting_on(given, 3) == given
