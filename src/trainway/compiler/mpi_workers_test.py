"""Which containers of a JobSet are told to fail when somebody stops them."""

import subprocess
import sys
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


OBEYS_THE_SECOND = """
import signal, sys
told = []
signal.signal(signal.SIGQUIT, lambda *_: told.append(1) if not told else sys.exit(255))
print(flush=True)
while True:
    signal.pause()
"""


def test_a_worker_that_has_only_just_started_is_told_again() -> None:
    shell, option, script = FAIL_WHEN_STOPPED["exec"]["command"]
    with subprocess.Popen([sys.executable, "-c", OBEYS_THE_SECOND], stdout=subprocess.PIPE) as one:
        assert one.stdout is not None
        one.stdout.readline()
        assert "kill -QUIT 1;" in script
        ours = script.replace("kill -QUIT 1;", f"kill -QUIT {one.pid};")
        with subprocess.Popen([shell, option, ours], stderr=subprocess.DEVNULL) as hook:
            assert one.wait(timeout=60) == 255
            hook.kill()
