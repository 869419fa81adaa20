from dataclasses import dataclass, field
from typing import Any

import pytest

from trainway.backends.kubernetes.waiting import Waiting, why, why_job
from trainway.json_types import Json

POD_SPEC: Json = {"containers": [{"name": "main", "image": "reg.io/team/train:7"}]}


def pod(status: Json, name: str = "a-0", spec: Json | None = None) -> Json:
    return {
        "metadata": {"name": name},
        "spec": spec or POD_SPEC,
        "status": {"phase": "Pending"} | status,
    }


def unscheduled(message: str, reason: str = "Unschedulable") -> Json:
    condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
    return {"conditions": [condition]}


def waits(reason: str, message: str = "", **more: Any) -> Json:
    state = {"waiting": {"reason": reason, "message": message}}
    return {"containerStatuses": [{"name": "main", "image": "x", "state": state} | more]}


def event(kind: str, name: str, reason: str, message: str, time: str = "1") -> Json:
    about = {"kind": kind, "name": name}
    return {"involvedObject": about, "reason": reason, "message": message, "lastTimestamp": time}


@dataclass(frozen=True)
class Case:
    name: str
    status: Json
    message: str | None
    events: list[Json] = field(default_factory=list)
    reason: str = ""


PULL = "image reg.io/team/train:7 cannot be pulled"
ENDED: Json = {"terminated": {"exitCode": 3}}
RUNNING: Json = {
    "phase": "Running",
    "containerStatuses": [{"name": "main", "state": {"running": {}}}],
}
NOT_FOUND = (
    'failed to pull and unpack image "reg.io/team/train:7": failed to resolve reference'
    ' "reg.io/team/train:7": reg.io/team/train:7: not found'
)


@pytest.mark.parametrize(
    "case",
    [
        Case("on its way", {}, None),
        Case("creating", waits("ContainerCreating"), None),
        Case("running", RUNNING, None),
        Case("ended", {"phase": "Failed"} | waits("ErrImagePull"), None),
        Case(
            "unschedulable",
            unscheduled("0/1 nodes are available: 1 Insufficient cpu."),
            "the only node does not fit: has too little cpu",
            reason="Unschedulable",
        ),
        Case(
            "no such image",
            waits("ErrImagePull", NOT_FOUND),
            f"{PULL}: there is no such image",
            reason="ErrImagePull",
        ),
        Case(
            "the cause is in an event",
            waits("ImagePullBackOff", 'Back-off pulling image "x"'),
            f"{PULL}: the registry cannot be reached",
            [
                event("Pod", "other", "Failed", "denied"),
                event("Pod", "a-0", "Failed", "no such host"),
            ],
            reason="ImagePullBackOff",
        ),
        Case(
            "a private image",
            waits("ErrImagePull", "pull access denied, repository does not exist"),
            f"{PULL}: there is no such image, or it needs an image pull secret",
            reason="ErrImagePull",
        ),
        Case(
            "no rights",
            waits("ErrImagePull", "unexpected status: 401 Unauthorized"),
            f"{PULL}: there is no such image, or it needs an image pull secret",
            reason="ErrImagePull",
        ),
        Case(
            "a name that is none",
            waits("InvalidImageName", "couldn't parse image name: invalid reference format"),
            f"{PULL}: invalid reference format",
            reason="InvalidImageName",
        ),
        Case(
            "no ConfigMap",
            waits("CreateContainerConfigError", 'configmap "settings" not found'),
            "the ConfigMap settings does not exist",
            reason="CreateContainerConfigError",
        ),
        Case(
            "no key",
            waits("CreateContainerConfigError", "couldn't find key token in Secret ns/keys"),
            "the Secret keys has no key token",
            reason="CreateContainerConfigError",
        ),
        Case(
            "no program",
            waits("RunContainerError", 'exec: "trian": not found\nmore'),
            'container main: exec: "trian": not found',
            reason="RunContainerError",
        ),
        Case(
            "crashes",
            {"phase": "Running"} | waits("CrashLoopBackOff", restartCount=2, lastState=ENDED),
            "container main ended 3 times with status 3, and is started again after a pause",
            reason="CrashLoopBackOff",
        ),
        Case(
            "a volume of a Secret",
            waits("ContainerCreating"),
            "the Secret keys does not exist",
            [
                event("Pod", "a-0", "FailedMount", "older", "1"),
                event(
                    "Pod", "a-0", "FailedMount", 'for volume "keys" : secret "keys" not found', "2"
                ),
            ],
            reason="FailedMount",
        ),
    ],
    ids=lambda case: case.name,
)
def test_pods(case: Case) -> None:
    expected = None if case.message is None else Waiting(case.reason, case.message)
    assert why(pod(case.status), case.events) == expected


def test_a_scheduling_gate() -> None:
    gated = pod(
        unscheduled("blocked", "SchedulingGated"),
        spec=POD_SPEC | {"schedulingGates": [{"name": "kueue.x-k8s.io/topology"}]},
    )
    found = why(gated, [])
    assert found == Waiting(
        "SchedulingGated", "held back by the scheduling gate kueue.x-k8s.io/topology"
    )


QUEUED_TOP: Json = {
    "metadata": {"labels": {"kueue.x-k8s.io/queue-name": "team"}},
    "spec": {"suspend": True},
}


def workload(*conditions: Json, **more: Any) -> Json:
    return {
        "metadata": {"name": "w", "namespace": "n"},
        "spec": {"queueName": "team"} | more.pop("spec", {}),
        "status": {"conditions": list(conditions)} | more,
    }


def condition(type_: str, status: str, message: str = "", reason: str = "Pending") -> Json:
    return {"type": type_, "status": status, "message": message, "reason": reason}


NO_QUOTA = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor f"
NEVER = (
    "couldn't assign flavors to pod set node: insufficient quota for cpu in flavor f, previously"
    " considered podsets requests (0) + current podset request (100) > maximum capacity (4)"
)
RESERVED = condition("QuotaReserved", "True")


@dataclass(frozen=True)
class Queue:
    name: str
    workload: Json | None
    message: str | None
    position: int | None = None
    reason: str = "Queued"


@pytest.mark.parametrize(
    "case",
    [
        Queue("no workload yet", None, "waits for queue team"),
        Queue("nothing said yet", workload(), "waits in queue team"),
        Queue(
            "quota",
            workload(condition("QuotaReserved", "False", NO_QUOTA)),
            f"waits in queue team, position 3: {NO_QUOTA}",
            3,
        ),
        Queue(
            "preempted",
            workload(
                condition("Evicted", "True", "Preempted to accommodate a workload"),
                condition("QuotaReserved", "False", "Preempted to accommodate a workload"),
            ),
            "waits in queue team: Preempted to accommodate a workload",
        ),
        Queue(
            "checks",
            workload(
                RESERVED,
                admissionChecks=[
                    {"name": "budget", "state": "Pending", "message": "asks"},
                    {"name": "done", "state": "Ready"},
                    {"name": "b", "state": "Retry"},
                ],
            ),
            "waits in queue team: admission checks pending: budget (asks), b",
        ),
        Queue("reserved", workload(RESERVED), "waits in queue team: it will start soon"),
        Queue(
            "deactivated",
            workload(spec={"active": False}),
            "queue team: the workload was deactivated",
            None,
            "Deactivated",
        ),
        Queue(
            "no such queue",
            workload(
                condition("QuotaReserved", "False", "LocalQueue team doesn't exist", "Inadmissible")
            ),
            "queue team can never admit it: LocalQueue team doesn't exist",
            None,
            "Inadmissible",
        ),
        Queue(
            "larger than the quota",
            workload(condition("QuotaReserved", "False", NEVER)),
            f"queue team can never admit it: {NEVER}",
            None,
            "Inadmissible",
        ),
        Queue("admitted", workload(RESERVED, condition("Admitted", "True")), None),
    ],
    ids=lambda case: case.name,
)
def test_queues(case: Queue) -> None:
    found = why_job(QUEUED_TOP, [], [], case.workload, case.position)
    expected = None
    if case.message is not None:
        expected = Waiting(case.reason, case.message, "team", case.position)
    assert found == expected


def test_a_job_that_its_owner_suspended_waits_for_nothing() -> None:
    assert why_job({"metadata": {}, "spec": {"suspend": True}}, [], [], None) is None


def test_all_pods_of_a_job_are_counted() -> None:
    stuck = unscheduled("0/1 nodes are available: 1 Insufficient cpu.")
    words = "the only node does not fit: has too little cpu"
    pods = [pod(stuck, f"a-{number}") for number in range(3)]
    assert why_job({}, pods, [], None) == Waiting("Unschedulable", f"all 3 pods wait: {words}")
    pods.append(pod({"phase": "Running"}, "a-3"))
    assert why_job({}, pods, [], None) == Waiting("Unschedulable", f"3 of 4 pods wait: {words}")
    assert why_job({}, pods[:1], [], None) == Waiting("Unschedulable", words)


EXCEEDED = (
    'Error creating: pods "a-node-0-0-x" is forbidden: exceeded quota: team, requested:'
    " pods=1,requests.cpu=2, used: pods=3,requests.cpu=4, limited: pods=3,requests.cpu=5"
)


def test_a_quota() -> None:
    failed = event("Job", "a-node-0", "FailedCreate", EXCEEDED, "2026-11-15T05:10:02Z")
    message = (
        "quota team is exceeded: a pod asks for 1 pods, used 3 of 3; 2 requests.cpu, used 4 of 5"
    )
    assert why_job({}, [], [failed], None) == Waiting("QuotaExceeded", message)
    made = event("Job", "a-node-0", "SuccessfulCreate", "made", "2026-11-15T05:10:03Z")
    assert why_job({}, [], [made, failed], None) is None


def test_pods_that_a_rule_forbids() -> None:
    text = 'Error creating: pods "x" is forbidden: violates PodSecurity "restricted:latest": host'
    failed = event("Job", "a-node-0", "FailedCreate", text)
    message = 'no pod can be created: violates PodSecurity "restricted:latest": host'
    assert why_job({}, [], [failed], None) == Waiting("FailedCreate", message)
    other = event("Job", "a-node-0", "FailedCreate", "Error creating: Internal error")
    assert why_job({}, [], [other], None) == Waiting(
        "FailedCreate", "no pod can be created: Internal error"
    )


def test_the_record() -> None:
    assert Waiting("R", "m").record() == {"type": "waiting", "reason": "R", "message": "m"}
    assert Waiting("R", "m", "q", 1).record() == {
        "type": "waiting",
        "reason": "R",
        "message": "m",
        "queue": "q",
        "position": 1,
    }
