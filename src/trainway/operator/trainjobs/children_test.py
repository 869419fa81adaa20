from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from trainway.json_types import Json
from trainway.operator.trainjobs.children import (
    CACHE_DELAY,
    Child,
    Sent,
    Verdict,
    child_of,
    is_newer,
    sent_as,
    verdict,
)

NOW = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)
JOB: Json = {"metadata": {"name": "t", "namespace": "ns", "uid": "U"}}
SAME, OTHER = b"same", b"other"

JOBSET = ("jobset.x-k8s.io/v1alpha2", "JobSet", "t")
POD_GROUP = ("scheduling.x-k8s.io/v1alpha1", "PodGroup", "t")
SECRET = ("v1", "Secret", "t-mpi-ssh-auth")
HOSTFILE = ("v1", "ConfigMap", "t-mpi-hostfile")
SNAPSHOT = ("v1", "ConfigMap", "t-runtime-snapshot")


def seen(
    owner: tuple[str, str, str] | None = ("TrainJob", "t", "U"),
    uid: str = "C",
    generation: int = 1,
    version: str = "10",
    **more: Any,
) -> Json:
    metadata: Json = {"uid": uid, "generation": generation, "resourceVersion": version, **more}
    if owner is not None:
        kind, name, owner_uid = owner
        reference = {"kind": kind, "name": name, "uid": owner_uid, "controller": True}
        metadata["ownerReferences"] = [reference]
    return {"metadata": metadata}


def sent(
    digest: bytes = SAME, generation: int = 1, version: str = "10", ago: timedelta = timedelta(0)
) -> Sent:
    return Sent("C", version, generation, digest, NOW - ago)


FORMER = seen(("TrainJob", "t", "U0"))
FOREIGN = seen(("Deployment", "d", "X"))
FREE = seen(None)
LEAVING = seen(deletionTimestamp="2026-01-31T12:00:00Z")
LATE = sent(ago=CACHE_DELAY)


@dataclass(frozen=True)
class Case:
    name: str
    child: tuple[str, str, str]
    seen: Json | None
    sent: Sent | None
    expected: Verdict
    inactive: bool = True
    with_jobset: bool = False


SEND, LEAVE, WAIT, CLASH = Verdict.SEND, Verdict.LEAVE, Verdict.WAIT, Verdict.CLASH

CASES = [
    Case("jobset: new", JOBSET, None, None, SEND),
    Case("jobset: sent, not in the cache yet", JOBSET, None, sent(), LEAVE),
    Case("jobset: sent, not in the cache, must change", JOBSET, None, sent(OTHER), SEND),
    Case("jobset: sent long ago and never seen", JOBSET, None, LATE, SEND),
    Case("jobset: runs", JOBSET, seen(), None, LEAVE, inactive=False),
    Case("jobset: runs and should differ", JOBSET, seen(), sent(OTHER), LEAVE, inactive=False),
    Case("jobset: held, as it should be", JOBSET, seen(), sent(), LEAVE),
    Case("jobset: held, of an operator before us", JOBSET, seen(), None, SEND),
    Case("jobset: held, must change", JOBSET, seen(), sent(OTHER), SEND),
    Case("jobset: the cache is behind", JOBSET, seen(), sent(generation=2), LEAVE),
    Case("jobset: somebody changed it", JOBSET, seen(generation=2), sent(), SEND),
    Case("jobset: somebody replaced it", JOBSET, seen(uid="C2"), sent(generation=5), SEND),
    Case("jobset: being deleted", JOBSET, LEAVING, sent(), WAIT),
    Case("jobset: of a former job", JOBSET, FORMER, None, WAIT, inactive=False),
    Case("jobset: of somebody else", JOBSET, FOREIGN, None, CLASH),
    Case("jobset: of nobody", JOBSET, FREE, None, CLASH),
    Case("jobset: of another TrainJob", JOBSET, seen(("TrainJob", "u", "V")), None, CLASH),
    Case("pod group: new", POD_GROUP, None, None, SEND),
    Case("pod group: runs", POD_GROUP, seen(), sent(OTHER), LEAVE, inactive=False),
    Case("d16 pod group: held, must change", POD_GROUP, seen(), sent(OTHER), SEND),
    Case("pod group: held, as it should be", POD_GROUP, seen(), sent(), LEAVE),
    Case("pod group: may have changed unseen", POD_GROUP, seen(), sent(), SEND, with_jobset=True),
    Case("pod group: of nobody", POD_GROUP, FREE, None, SEND),
    Case("secret: new", SECRET, None, None, SEND),
    Case("secret: on its way, with other keys", SECRET, None, sent(OTHER), LEAVE),
    Case("secret: there", SECRET, seen(), sent(OTHER), LEAVE),
    Case("secret: the user's own", SECRET, FREE, None, LEAVE, with_jobset=True),
    Case("secret: of a former job", SECRET, FORMER, None, WAIT),
    Case("hostfile: new", HOSTFILE, None, None, SEND),
    Case("hostfile: as it should be", HOSTFILE, seen(), sent(), LEAVE, inactive=False),
    Case("hostfile: of an operator before us", HOSTFILE, seen(), None, SEND, inactive=False),
    Case("hostfile: must change", HOSTFILE, seen(), sent(OTHER), SEND, inactive=False),
    Case("hostfile: somebody changed it", HOSTFILE, seen(version="11"), sent(), SEND),
    Case("hostfile: the cache is behind", HOSTFILE, seen(version="9"), sent(), LEAVE),
    Case("hostfile: of a former job", HOSTFILE, FORMER, None, WAIT),
    Case("snapshot: new", SNAPSHOT, None, None, SEND),
    Case("snapshot: there", SNAPSHOT, seen(), None, LEAVE),
    Case("snapshot: changed", SNAPSHOT, seen(version="11"), sent(OTHER), LEAVE),
    Case("snapshot: of a former job", SNAPSHOT, FORMER, None, WAIT),
    Case("snapshot: of nobody", SNAPSHOT, FREE, None, CLASH),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_to_do_with_a_child(case: Case) -> None:
    child = Child(*case.child, digest=SAME)
    found = verdict(
        child,
        JOB,
        case.seen,
        case.sent,
        inactive=case.inactive,
        with_jobset=case.with_jobset,
        now=NOW,
    )
    assert found is case.expected


def test_a_digest_is_of_the_content_and_not_of_its_order() -> None:
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "1"}}
    turned = dict(reversed(obj.items()))
    assert child_of(obj) == child_of(turned)
    assert child_of(obj) != child_of({**obj, "data": {"x": "2"}})


def test_an_answer_is_remembered() -> None:
    child = Child(*JOBSET, digest=SAME)
    answer = {"metadata": {"uid": "C", "resourceVersion": "10", "generation": 3}}
    assert sent_as(child, answer, NOW) == sent(generation=3)


def test_versions_are_compared_as_numbers() -> None:
    assert is_newer("10", "9")
    assert not is_newer("9", "10")
    assert not is_newer("9", "9")
    assert is_newer("opaque", "other")
    assert not is_newer("opaque", "opaque")
