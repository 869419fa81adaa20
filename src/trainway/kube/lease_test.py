from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from trainway.json_types import Json
from trainway.kube.lease import Observation, may_take, observed, released, taken

_NOW = datetime(2026, 11, 15, 8, 0, tzinfo=UTC)


def _lease(holder: str, version: str = "1", seconds: int | None = 15) -> Json:
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "l", "namespace": "n", "resourceVersion": version},
        "spec": {
            "holderIdentity": holder,
            "leaseDurationSeconds": seconds,
            "acquireTime": "2026-11-15T07:00:00.000000Z",
            "renewTime": "2030-01-01T00:00:00.000000Z",
            "leaseTransitions": 4,
        },
    }


@dataclass(frozen=True)
class Case:
    name: str
    lease: Json
    waited: float
    is_free: bool


@pytest.mark.parametrize(
    "case",
    [
        Case("nobody's", _lease(""), 0, True),
        Case("ours", _lease("me"), 0, True),
        Case("another's", _lease("other"), 14.9, False),
        Case("expired by our clock, whatever its time says", _lease("other"), 15, True),
        Case("by the duration its holder wrote", _lease("other", seconds=60), 30, False),
        Case("no duration written: ours", _lease("other", seconds=None), 15, True),
        Case("without a spec", {"metadata": {}}, 0, True),
    ],
    ids=lambda case: case.name,
)
def test_who_may_take_it(case: Case) -> None:
    assert may_take(Observation(case.lease, 100), "me", 100 + case.waited, 15) is case.is_free


def test_time_counts_from_the_last_change() -> None:
    first = observed(None, _lease("other", "1"), 100)
    again = observed(first, _lease("other", "1"), 110)
    assert again.changed_at == 100
    renewed = observed(again, _lease("other", "2"), 120)
    assert renewed.changed_at == 120


def test_a_new_lease() -> None:
    lease = taken(None, "n", "l", "me", 15, _NOW)
    assert lease == {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "l", "namespace": "n"},
        "spec": {
            "holderIdentity": "me",
            "leaseDurationSeconds": 15,
            "acquireTime": "2026-11-15T08:00:00.000000Z",
            "renewTime": "2026-11-15T08:00:00.000000Z",
            "leaseTransitions": 0,
        },
    }


def test_renewing_keeps_the_time_of_acquisition_and_the_version() -> None:
    lease = taken(_lease("me", "7"), "n", "l", "me", 15, _NOW)
    assert lease["spec"]["acquireTime"] == "2026-11-15T07:00:00.000000Z"
    assert lease["spec"]["renewTime"] == "2026-11-15T08:00:00.000000Z"
    assert lease["spec"]["leaseTransitions"] == 4
    assert lease["metadata"]["resourceVersion"] == "7"


def test_taking_it_over_is_counted() -> None:
    lease = taken(_lease("other"), "n", "l", "me", 15, _NOW)
    assert lease["spec"]["acquireTime"] == "2026-11-15T08:00:00.000000Z"
    assert lease["spec"]["leaseTransitions"] == 5


def test_released() -> None:
    lease = released(_lease("me", "7"), _NOW)
    assert lease["metadata"]["resourceVersion"] == "7"
    assert lease["spec"]["holderIdentity"] == ""
    assert lease["spec"]["leaseDurationSeconds"] == 1
    assert lease["spec"]["leaseTransitions"] == 4
