import copy
from dataclasses import dataclass

import pytest
from gang_audit import ATTEMPT, INDEX, JOBSET, GangAudit
from kwok_gangs import ALWAYS, ONCE, Gang

from trainway.json_types import Json
from trainway.kube.resources import CONFIG_MAPS, JOBSETS, PODS, TRAINJOBS, Resource

Seen = list[tuple[Resource, Json]]


def trainjob(name: str, end: str, uid: str = "t") -> tuple[Resource, Json]:
    conditions = [{"type": "Suspended", "status": "False"}, {"type": end, "status": "True"}]
    return TRAINJOBS, {
        "metadata": {"name": name, "uid": uid},
        "status": {"conditions": conditions},
    }


def jobset(name: str, uid: str = "j", generation: int = 1) -> tuple[Resource, Json]:
    return JOBSETS, {"metadata": {"name": name, "uid": uid, "generation": generation}}


def snapshot(name: str, uid: str = "c") -> tuple[Resource, Json]:
    return CONFIG_MAPS, {"metadata": {"name": f"{name}-runtime-snapshot", "uid": uid}}


def pod(name: str, attempt: int, index: int, phase: str, uid: str = "") -> tuple[Resource, Json]:
    labels = {JOBSET: name, ATTEMPT: str(attempt), INDEX: str(index)}
    uid = uid or f"{attempt}-{index}"
    return PODS, {
        "metadata": {"name": f"{name}-{uid}", "uid": uid, "labels": labels},
        "status": {"phase": phase},
    }


GOOD: Seen = [
    snapshot("a"),
    jobset("a"),
    pod("a", 0, 0, "Pending"),
    pod("a", 0, 1, "Running"),
    pod("a", 0, 0, "Succeeded"),
    pod("a", 0, 1, "Succeeded"),
    trainjob("a", "Complete"),
]
RESTARTED: Seen = [
    *GOOD[:2],
    pod("a", 0, 0, "Failed"),
    pod("a", 0, 1, "Running"),
    pod("a", 1, 0, "Succeeded"),
    pod("a", 1, 1, "Succeeded"),
    trainjob("a", "Complete"),
]
LOST: Seen = [*RESTARTED[:4], pod("a", 1, 0, "Failed"), pod("a", 1, 1, "Running")]


def without(seen: Seen, *resources: Resource) -> Seen:
    return [each for each in seen if each[0] not in resources]


@dataclass(frozen=True)
class Case:
    name: str
    gang: Gang
    seen: Seen
    problems: tuple[str, ...] = ()


PAIR = Gang("a", 2)
CASES = [
    Case("all is well", PAIR, GOOD),
    Case("a restart that was asked for", Gang("a", 2, ONCE), RESTARTED),
    Case("a failure that was asked for", Gang("a", 2, ALWAYS), [*LOST, trainjob("a", "Failed")]),
    Case("lost", PAIR, without(GOOD, TRAINJOBS), ("a: ended as [], not as Complete",)),
    Case(
        "two endings",
        PAIR,
        [*GOOD, trainjob("a", "Failed")],
        ("a: ended as ['Complete', 'Failed'], not as Complete",),
    ),
    Case("a second JobSet", PAIR, [*GOOD, jobset("a", "k")], ("JobSet a was made twice",)),
    Case(
        "a second ConfigMap",
        PAIR,
        [*GOOD, snapshot("a", "d")],
        ("ConfigMap a-runtime-snapshot was made twice",),
    ),
    Case("a stray JobSet", PAIR, [*GOOD, jobset("b", "k")], ("JobSet b belongs to no gang",)),
    Case(
        "a changed JobSet",
        PAIR,
        [*GOOD, jobset("a", generation=2)],
        ("a: its JobSet was changed",),
    ),
    Case("no snapshot", PAIR, without(GOOD, CONFIG_MAPS), ("a: had no snapshot of its runtime",)),
    Case("a partial gang", Gang("a", 3), GOOD, ("a: had the pods [0, 1] of 3",)),
    Case(
        "a pod twice",
        PAIR,
        [*GOOD, pod("a", 0, 1, "Succeeded", "other")],
        ("a: pod 1 of attempt 0 was made 2 times",),
    ),
    Case(
        "a restart nobody asked for",
        PAIR,
        RESTARTED,
        ("a: had the attempts [0, 1]", "a: its last pods were Failed, Running"),
    ),
    Case(
        "a pod that did not end",
        PAIR,
        [each for each in GOOD if each != pod("a", 0, 1, "Succeeded")],
        ("a: its last pods were Running, Succeeded",),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_should_not_have_happened_is_told(case: Case) -> None:
    audit = GangAudit()
    for resource, obj in copy.deepcopy(case.seen):
        audit.note(resource, obj)
    assert tuple(audit.problems([case.gang])) == case.problems


def test_pods_that_live_at_the_same_time_are_counted() -> None:
    audit = GangAudit()
    for index, phase in ((0, "Running"), (1, "Pending"), (0, "Succeeded"), (2, "Running")):
        audit.note(*pod("a", 0, index, phase))
    assert audit.most_alive == 2
