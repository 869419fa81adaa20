import pytest

from trainway.json_types import Json
from trainway.operator.status_patch import status_patch


def obj(status: Json | None) -> Json:
    metadata = {"name": "pi", "resourceVersion": "7"}
    return {"metadata": metadata} | ({} if status is None else {"status": status})


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        (None, {"startTime": "a"}, {"startTime": "a"}),
        (
            {"startTime": "a"},
            {"startTime": "b", "conditions": []},
            {"startTime": "b", "conditions": []},
        ),
        (
            {"replicaStatuses": {"Worker": {"active": 2}, "Launcher": {}}},
            {"replicaStatuses": {"Worker": {"failed": 1}, "Launcher": {}}},
            {"replicaStatuses": {"Worker": {"active": None, "failed": 1}}},
        ),
        (
            {"replicaStatuses": {}},
            {"replicaStatuses": {"Worker": {}}},
            {"replicaStatuses": {"Worker": {}}},
        ),
        (
            {"conditions": [{"type": "A"}], "x": 1},
            {"conditions": []},
            {"conditions": [], "x": None},
        ),
    ],
    ids=["first", "changed", "counts", "a role without pods", "lists as a whole"],
)
def test_what_changed_is_written(old: Json | None, new: Json, change: Json) -> None:
    patch = status_patch(obj(old), new)
    assert patch == {"metadata": {"resourceVersion": "7"}, "status": change}


@pytest.mark.parametrize("status", [{}, {"startTime": "a", "replicaStatuses": {"Worker": {}}}])
def test_what_is_the_same_is_not(status: Json) -> None:
    assert status_patch(obj(status), dict(status)) is None
    assert status_patch(obj(None), {}) is None
