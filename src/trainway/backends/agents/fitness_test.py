from typing import Any

from trainway.backends.agents.fitness import errors, warnings
from trainway.jobset.labels import ISOLATION
from trainway.json_types import Json


def jobset(*containers: Json, **pod: Any) -> Json:
    spec = {"containers": list(containers), **pod}
    role = {"name": "node", "template": {"spec": {"template": {"spec": spec}}}}
    return {"metadata": {"name": "demo"}, "spec": {"replicatedJobs": [role]}}


def test_a_container_must_bring_its_command() -> None:
    bare = {"name": "bare", "image": "x", "args": ["-v"]}
    good = {"name": "good", "command": ["true"]}
    (error,) = errors(jobset(good, initContainers=[bare]))
    assert error.startswith("role node, container bare: command: Required value: ")
    assert errors(jobset(good)) == []


def test_in_a_container_it_needs_an_image_instead() -> None:
    bare = {"name": "bare", "command": ["true"]}
    good = {"name": "good", "image": "x", "resources": {"limits": {"cpu": 1}}}
    contained = jobset(good, bare, hostPID=True)
    contained["metadata"]["annotations"] = {ISOLATION: "container"}
    (error,) = errors(contained)
    assert error.startswith("role node, container bare: image: Required value: ")
    assert warnings(contained) == ["runs in containers of this machine: hostPID is not honoured"]


def test_all_that_is_not_honoured_is_one_warning() -> None:
    first = {"name": "a", "image": "x", "command": ["true"], "securityContext": {"runAsUser": 1}}
    second = {"name": "b", "image": "y", "command": ["true"]}
    assert warnings(jobset(first, second, first)) == [
        (
            "runs with this machine's own programs: the images x, y are not used; "
            "securityContext is not honoured"
        )
    ]
    assert warnings(jobset(second)) == [
        "runs with this machine's own programs: the image y is not used"
    ]
    assert warnings(jobset({"name": "a", "command": ["true"]})) == []
