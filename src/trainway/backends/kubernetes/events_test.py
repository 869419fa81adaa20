from trainway.backends.kubernetes.events import concerns, record_of, time_of

EVENT = {
    "metadata": {"creationTimestamp": "2026-11-15T05:00:00Z"},
    "involvedObject": {"kind": "Pod", "name": "a-node-0-0-xyz"},
    "type": "Warning",
    "reason": "Failed",
    "message": "Error:\n  no such image",
    "firstTimestamp": "2026-11-15T05:10:00Z",
    "lastTimestamp": "2026-11-15T05:11:00Z",
    "eventTime": None,
}
NEW = {
    "regarding": {"kind": "Job", "name": "a-node-0"},
    "note": "made",
    "reason": "Made",
    "eventTime": "2026-11-15T05:10:00.123456Z",
}


def test_an_event_becomes_a_record() -> None:
    assert record_of(EVENT) == {
        "type": "event",
        "time": "2026-11-15T05:11:00Z",
        "eventType": "Warning",
        "reason": "Failed",
        "message": "Error: no such image",
        "object": "Pod/a-node-0-0-xyz",
    }


def test_an_event_of_the_newer_sort() -> None:
    record = record_of(NEW)
    assert (record["object"], record["message"], record["eventType"]) == (
        "Job/a-node-0",
        "made",
        "Normal",
    )
    assert record["time"] == "2026-11-15T05:10:00.123456Z"
    assert time_of(NEW | {"series": {"lastObservedTime": "2027"}}) == "2027"
    assert time_of({"metadata": {"creationTimestamp": "2026"}}) == "2026"


def test_what_an_event_is_about() -> None:
    assert concerns(EVENT, {("Pod", "a-node-0-0-xyz")})
    assert not concerns(EVENT, {("Job", "a-node-0-0-xyz"), ("Pod", "b")})
