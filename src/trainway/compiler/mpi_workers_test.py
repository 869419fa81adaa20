"""Which containers of a JobSet are told to fail when somebody stops them."""

from dataclasses import dataclass, field

import pytest

from trainway.compiler.mpi_workers import FAIL_WHEN_STOPPED, replaceable
from trainway.json_types import Json

KEYS = [{"name": "ssh-auth", "mountPath": "/root/.ssh"}]
OWN_HOOK = {"httpGet": {"port": 80}}


@dataclass(frozen=True)
class Case:
    name: str
    hook: Json | None
    role: str = "worker"
    container: Json = field(default_factory=lambda: {"volumeMounts": KEYS})
    pod: Json = field(default_factory=dict)


CASES = [
    Case("a worker of an MPIJob", FAIL_WHEN_STOPPED),
    Case(
        "a node of a TrainJob",
        FAIL_WHEN_STOPPED,
        "node",
        {"volumeMounts": [{"name": "mpi-ssh-auth", "mountPath": "/home/mpiuser/.ssh"}]},
    ),
    Case("a launcher", None, "launcher"),
    Case("a job without SSH", None, container={}),
    Case(
        "a hook of its own stays",
        OWN_HOOK,
        container={"volumeMounts": KEYS, "lifecycle": {"preStop": OWN_HOOK}},
    ),
    Case("the first process is the node's", None, pod={"hostPID": True}),
    Case("the first process is the pod's", None, pod={"shareProcessNamespace": True}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_workers_get_a_hook(case: Case) -> None:
    pod = {"containers": [{"name": "main", **case.container}], **case.pod}
    role = {"name": case.role, "template": {"spec": {"template": {"spec": pod}}}}
    given = {"kind": "JobSet", "spec": {"replicatedJobs": [role]}}

    made = replaceable(given)

    (container,) = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"][
        "containers"
    ]
    assert container.get("lifecycle", {}).get("preStop") == case.hook
    assert made is not given
