from pathlib import Path

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.base.journal import Journal
from trainway.agent.slurm.files.job_files import JobFiles
from trainway.agent.slurm.relay.followed_job import ENDED_SECONDS, SETTLE_SECONDS, FollowedJob
from trainway.agent.slurm.relay.queue_states import QueueState
from trainway.agent.transfer.blobs import Blobs
from trainway.agent.transfer.feed import Position
from trainway.json_types import Json

PAUSE = 1.0
LOG = "node-0-0.node.0.log"
WAITING = QueueState("12", "PENDING", reason="Resources")
RUNNING = QueueState("12", "RUNNING")


class Followed:
    """A job, its driver, and a clock."""

    def __init__(self, home: Path) -> None:
        self.now = 1000.0
        (home / "agent.pyz").touch()
        directory = Directory(str(home))
        files = JobFiles(directory, "a", make=True)
        files.put({"id": "a"}, "", Blobs(directory), str(home / "agent.pyz"))
        self.path = Path(files.directory.path)
        self.job = FollowedJob(files, "12", Position({}), lambda: self.now)
        self.book = Journal(files.directory, lambda: self.now)

    def frames(self) -> list[Json]:
        """All that is to be sent now."""
        found = []
        while (frame := self.job.next()) is not None:
            found.append(frame)
        return found

    def look(self) -> bool:
        """Look when the time for it has come."""
        self.now = max(self.now, self.job.look_at)
        return self.job.look(PAUSE)

    def log(self, text: str) -> None:
        with (self.path / "logs" / LOG).open("a") as file:
            file.write(text)


@pytest.fixture
def followed(tmp_path: Path) -> Followed:
    return Followed(tmp_path)


def test_records_are_sent_as_they_are(followed: Followed) -> None:
    followed.book.append("agent", {"event": "started"})
    followed.book.append("event", {"reason": "X"})
    assert followed.look()
    first, second = followed.frames()
    assert (first["event"], first["id"], first["record"]["event"]) == ("record", "a", "started")
    assert (second["record"]["type"], "event" in second["record"]) == ("event", False)


def test_looks_become_rare_while_nothing_happens(followed: Followed) -> None:
    followed.job.state = RUNNING
    pauses = []
    for _ in range(10):
        assert not followed.look()
        pauses.append(followed.job.look_at - followed.now)
    assert pauses == sorted(pauses)
    assert pauses[-1] == PAUSE
    followed.log("line\n")
    assert followed.look()
    assert followed.job.look_at - followed.now < 0.2
    assert [frame["event"] for frame in followed.frames()] == ["log"]


def test_a_job_that_waits_is_only_asked_for_its_journal(followed: Followed) -> None:
    followed.job.state = WAITING
    followed.log("of an earlier attempt\n")
    assert not followed.look()
    assert not followed.job.looked_closer
    assert followed.job.look_at % (2 * PAUSE) == 0
    followed.book.append("agent", {"event": "started"})
    assert followed.look()


def test_its_place_in_the_queue_is_told_once(followed: Followed) -> None:
    assert followed.job.news({"state": "PENDING"}) is not None
    assert followed.job.news({"state": "PENDING"}) is None
    assert followed.job.news({"state": "RUNNING"}) is not None


def test_its_end_is_told_after_all_else(followed: Followed) -> None:
    followed.job.state = RUNNING
    followed.log("the last line without an end")
    followed.log("\n")
    (followed.path / "output" / "model").write_text("m")
    pod = {"uid": "u", "pod": "node-0-0", "attempt": 0, "containers": [{"name": "node"}]}
    followed.book.append("pod", {**pod, "phase": "Succeeded"})
    followed.book.append("end", {"succeeded": True})
    followed.job.end({"state": "COMPLETED"})
    followed.look()
    events = [frame["event"] for frame in followed.frames()]
    assert sorted(events[:2]) == ["log", "output"]
    assert events[2:] == ["record", "record", "slurm"]
    assert followed.job.is_told


def test_the_record_of_its_end_waits_for_logs_of_pods_that_nobody_saw_end(
    followed: Followed,
) -> None:
    followed.job.state = RUNNING
    followed.book.append("end", {"succeeded": False})
    followed.look()
    followed.log("one\nand half a")
    (followed.path / "output" / "model").write_text("m")
    events = [frame["event"] for frame in followed.frames()]
    assert sorted(events[:-1]) == ["log", "log", "output"]
    assert events[-1] == "record"


@pytest.mark.parametrize("state", ["COMPLETED", "FAILED", "TIMEOUT"])
def test_a_file_system_may_take_its_time(followed: Followed, state: str) -> None:
    followed.job.state = RUNNING
    followed.book.append("event", {"reason": "X"})
    followed.job.end({"state": state})
    ended = followed.now
    patience = ENDED_SECONDS.get(state, SETTLE_SECONDS)
    told: list[Json] = []
    while not followed.job.is_told:
        followed.look()
        told += followed.frames()
    assert patience <= followed.now - ended <= patience + 2 * PAUSE
    assert [frame["event"] for frame in told] == ["record", "slurm"]


def test_a_job_that_never_ran_has_nothing_to_wait_for(followed: Followed) -> None:
    followed.job.state = WAITING
    followed.job.end({"state": "CANCELLED"})
    (final,) = followed.frames()
    assert (final["final"], final["state"]) == (True, "CANCELLED")


def test_of_a_silent_job_only_its_end_is_told(followed: Followed) -> None:
    job = FollowedJob(followed.job.files, "12", Position({}), lambda: followed.now, is_silent=True)
    followed.book.append("event", {"reason": "X"})
    job.end({"state": "FAILED"})
    frame = job.next()
    assert frame is not None
    assert (frame["event"], job.next()) == ("slurm", None)
