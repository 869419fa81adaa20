from datetime import UTC, datetime

from trainway.json_types import Json
from trainway.operator.trainjobs.children import Sent
from trainway.operator.trainjobs.memory import Memory, Note

NOW = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)


def job(version: str, status: str) -> Json:
    return {"metadata": {"name": "t", "resourceVersion": version}, "status": {"is": status}}


def test_what_was_written_counts_until_the_cache_has_it() -> None:
    note = Note("U", written=("12", {"is": "new"}))
    latest = note.latest(job("9", "old"))
    assert (latest["metadata"]["resourceVersion"], latest["status"]) == ("12", {"is": "new"})
    for version in ("12", "13"):
        note.written = ("12", {"is": "new"})
        assert note.latest(job(version, "cached")) == job(version, "cached")
        assert note.written is None


def test_a_note_is_about_one_object_and_not_about_a_name() -> None:
    memory = Memory()
    note = memory.note("ns/t", "U")
    assert memory.note("ns/t", "U") is note
    assert memory.note("ns/t", "U2") is not note
    memory.forget("ns/t")
    assert memory.note("ns/t", "U2") is not note


def test_a_child_that_is_gone_is_no_longer_on_its_way() -> None:
    memory = Memory()
    note = memory.note("ns/t", "U")
    note.sent["JobSet", "t"] = Sent("C", "1", 1, b"", NOW)
    memory.child_gone("ns/t", "JobSet", "t", "an earlier one")
    assert ("JobSet", "t") in note.sent
    memory.child_gone("ns/t", "JobSet", "t", "C")
    assert note.sent == {}
    memory.child_gone("ns/unknown", "JobSet", "t", "C")


def test_an_end_is_remembered_until_it_is_written() -> None:
    memory = Memory()
    memory.remember_end("ns/t", {"status": {}})
    assert memory.end("ns/t") == {"status": {}}
    memory.forget_end("ns/t")
    assert memory.end("ns/t") is None


def test_jobs_that_wait_for_a_runtime_are_named_once() -> None:
    memory = Memory()
    memory.wait_for_runtime("ClusterTrainingRuntime:r", "ns/a")
    memory.wait_for_runtime("ClusterTrainingRuntime:r", "ns/b")
    assert memory.runtime_appeared("ClusterTrainingRuntime:r") == {"ns/a", "ns/b"}
    assert memory.runtime_appeared("ClusterTrainingRuntime:r") == set()


def test_a_job_that_is_gone_waits_for_nothing() -> None:
    memory = Memory()
    memory.wait_for_runtime("ClusterTrainingRuntime:r", "ns/a")
    memory.remember_end("ns/a", {})
    memory.forget("ns/a")
    assert memory.runtime_appeared("ClusterTrainingRuntime:r") == set()
    assert memory.end("ns/a") is None
