import copy
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from trainway.json_types import Json
from trainway.operator.jobset_change import can_become


def spec() -> Json:
    pod = {
        "metadata": {"labels": {"a": "1"}, "annotations": {"n": "1"}},
        "spec": {"nodeSelector": {"zone": "x"}, "tolerations": [{"key": "gpu"}], "containers": []},
    }
    roles = [
        {
            "name": name,
            "template": {"spec": {"completions": 2, "template": copy.deepcopy(pod)}},
        }
        for name in ("worker", "launcher")
    ]
    return {"spec": {"replicatedJobs": roles}}


def worker(wanted: Json) -> Json:
    found: Json = wanted["spec"]["replicatedJobs"][0]["template"]["spec"]
    return found


def pod(wanted: Json) -> Json:
    found: Json = worker(wanted)["template"]
    return found


def admitted(wanted: Json) -> None:
    """What Kueue adds."""
    pod(wanted)["metadata"]["labels"]["kueue.x-k8s.io/podset"] = "worker"
    pod(wanted)["metadata"]["annotations"]["n"] = "2"
    pod(wanted)["spec"]["nodeSelector"] = {"zone": "y", "pool": "gpu"}
    pod(wanted)["spec"]["tolerations"].append({"key": "spot"})
    pod(wanted)["spec"]["schedulingGates"] = [{"name": "topology"}]


@dataclass(frozen=True)
class Change:
    name: str
    change: Callable[[Json], object]
    can: bool


@pytest.mark.parametrize(
    "case",
    [
        Change("nothing", lambda wanted: None, can=True),
        Change("more of all", admitted, can=True),
        Change("a label less", lambda wanted: pod(wanted)["metadata"]["labels"].clear(), can=False),
        Change("no annotations", lambda wanted: pod(wanted)["metadata"].pop("annotations"), False),
        Change("no selector", lambda wanted: pod(wanted)["spec"].pop("nodeSelector"), can=False),
        Change("no tolerations", lambda wanted: pod(wanted)["spec"].pop("tolerations"), can=False),
        Change(
            "another toleration",
            lambda wanted: pod(wanted)["spec"].update(tolerations=[{"key": "spot"}]),
            can=False,
        ),
        Change("more pods", lambda wanted: worker(wanted).update(completions=3), can=False),
        Change("a role less", lambda wanted: wanted["spec"]["replicatedJobs"].pop(), can=False),
    ],
    ids=lambda case: case.name,
)
def test_what_can_be_changed_in_place(case: Change) -> None:
    wanted = spec()
    case.change(wanted)
    assert can_become(spec(), wanted) is case.can


def test_a_gate_that_is_gone_cannot_be_taken_away_in_place() -> None:
    live = spec()
    admitted(live)
    assert can_become(live, spec()) is False
