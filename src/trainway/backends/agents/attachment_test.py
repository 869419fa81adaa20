import pytest

from trainway.backends.agents.attachment import attachment
from trainway.errors import ConflictError
from trainway.json_types import Json

HANDLE = {"id": "i"}


def record(pod: str, *containers: Json) -> Json:
    return {"type": "pod", "pod": pod, "containers": list(containers)}


MAIN = {"name": "main", "pid": 5}


def test_the_newest_word_on_a_pod_counts() -> None:
    records = [
        {"type": "agent"},
        record("node-0-1", MAIN | {"pid": 6}),
        record("node-0-0", MAIN),
        record("node-0-0", {"name": "set-up", "pid": 3, "kind": "init"}, MAIN | {"pid": 7}),
    ]
    assert attachment(HANDLE, records) == {
        "job": "i",
        "pod": "node-0-0",
        "container": "main",
        "containers": ["main"],
        "processes": {"main": 7},
        "namespace": "",
        "context": "",
        "kubeconfig": [],
    }
    assert attachment(HANDLE, records, "node", 1)["processes"] == {"main": 6}


def test_a_launcher_comes_first() -> None:
    records = [record("a-0-0", MAIN), record("launcher-0-0", MAIN | {"pid": 8})]
    assert attachment(HANDLE, records)["processes"] == {"main": 8}


def test_nothing_runs() -> None:
    records = [record("node-0-0", MAIN), record("node-0-0", {"name": "main", "exitCode": 0})]
    with pytest.raises(ConflictError, match="no such pod"):
        attachment(HANDLE, records)
