import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import Timer
from trainway.agent.slurm.commands import Result
from trainway.agent.slurm.files.job_files import JobFiles
from trainway.agent.slurm.relay import accounting
from trainway.agent.slurm.relay.queue_states import QueueState
from trainway.agent.slurm.relay.submission import Submission


class Slurm:
    """Answers that are set beforehand."""

    def __init__(self) -> None:
        self.accounting = accounting.NONE
        self.states: dict[str, QueueState] = {}
        self.answers = True
        self.sbatch = Result(["sbatch"], 0, b"12\n", b"")
        self.books = ""
        self.calls: list[str] = []
        self.words: list[str] = []
        """The last call in full."""
        self.waiting: list[Callable[[], None]] = []
        """What sbatch has yet to answer."""
        self.timers: list[Callable[[], object]] = []

    def call_later(self, _delay: float, callback: Callable[[], object]) -> Timer:
        self.timers.append(callback)
        return Timer(0.0, callback)

    def when_asked(self, callback: Callable[[bool], None]) -> None:
        self.calls.append("squeue")
        callback(self.answers)

    def run(self, argv: Sequence[str], done: Callable[[Result], None], **_more: object) -> None:
        self.calls.append(argv[0])
        self.words = list(argv)
        if argv[0] == "sacct":
            done(Result(list(argv), 0, self.books.encode(), b""))
        else:
            self.waiting.append(lambda: done(self.sbatch))

    def answer(self) -> None:
        waiting, self.waiting = self.waiting, []
        for callback in waiting:
            callback()


@pytest.fixture
def slurm() -> Slurm:
    return Slurm()


@pytest.fixture
def files(tmp_path: Path) -> JobFiles:
    return JobFiles(Directory(str(tmp_path)), "mine", make=True)


class Asker:
    """Submits, and keeps the answers."""

    def __init__(self, slurm: Slurm) -> None:
        around: Any = slurm
        self._submission = Submission(around, around, around, "me")
        self.answers: list[tuple[str, str]] = []

    def submit(self, files: JobFiles) -> None:
        self._submission.submit(files, lambda *answer: self.answers.append(_plain(*answer)))


def _plain(number: str, failure: object) -> tuple[str, str]:
    return number, "" if failure is None else str(failure)


@pytest.fixture
def asker(slurm: Slurm) -> Asker:
    return Asker(slurm)


def test_a_new_job_is_submitted_without_a_look(slurm: Slurm, files: JobFiles, asker: Asker) -> None:
    asker.submit(files)
    slurm.answer()
    assert slurm.calls == ["sbatch"]
    assert asker.answers == [("12", "")]
    assert files.number == "12"
    asker.submit(files)
    assert slurm.calls == ["sbatch"]
    assert asker.answers == [("12", "")] * 2


def test_who_asks_while_sbatch_runs_gets_its_answer(
    slurm: Slurm, files: JobFiles, asker: Asker
) -> None:
    asker.submit(files)
    asker.submit(files)
    slurm.answer()
    assert slurm.calls == ["sbatch"]
    assert asker.answers == [("12", "")] * 2


def test_the_number_of_another_cluster_is_cut_off(
    slurm: Slurm, files: JobFiles, asker: Asker
) -> None:
    slurm.sbatch = Result(["sbatch"], 0, b"sbatch: hello\n77;other\n", b"")
    asker.submit(files)
    slurm.answer()
    assert files.number == "77"


def test_a_refusal_leaves_no_mark(slurm: Slurm, files: JobFiles, asker: Asker) -> None:
    slurm.sbatch = Result(["sbatch"], 1, b"", b"sbatch: error: Invalid qos specification\n")
    asker.submit(files)
    slurm.answer()
    assert asker.answers[0][1].startswith("Invalid qos specification")
    assert not files.may_be_submitted


def silent(slurm: Slurm, files: JobFiles, asker: Asker) -> None:
    """Let sbatch be run by somebody who never learns what it answered."""
    right = slurm.sbatch
    slurm.sbatch = Result(["sbatch"], 1, b"", b"sbatch: error: Socket timed out on send/recv\n")
    asker.submit(files)
    slurm.answer()
    slurm.sbatch = right
    asker.answers.clear()
    slurm.calls.clear()
    assert files.may_be_submitted


def test_a_job_that_may_be_there_is_looked_for(slurm: Slurm, files: JobFiles, asker: Asker) -> None:
    silent(slurm, files, asker)
    slurm.states = {"9": QueueState("9", "PENDING", comment="trainway:mine")}
    asker.submit(files)
    assert slurm.calls == ["squeue"]
    assert asker.answers == [("9", "")]


def test_also_in_the_books(slurm: Slurm, files: JobFiles, asker: Asker) -> None:
    silent(slurm, files, asker)
    slurm.accounting, slurm.books = accounting.DATABASE, "8|trainway:mine\n"
    asker.submit(files)
    assert slurm.calls == ["squeue", "sacct"]
    assert asker.answers == [("8", "")]


def test_a_job_that_is_nowhere_is_submitted(slurm: Slurm, files: JobFiles, asker: Asker) -> None:
    silent(slurm, files, asker)
    asker.submit(files)
    slurm.answer()
    assert slurm.calls == ["squeue", "sbatch"]
    assert asker.answers == [("12", "")]


def test_nothing_is_submitted_while_slurm_cannot_be_asked(
    slurm: Slurm, files: JobFiles, asker: Asker
) -> None:
    silent(slurm, files, asker)
    slurm.answers = False
    asker.submit(files)
    assert slurm.calls == ["squeue"]
    assert "not known whether it has the job" in asker.answers[0][1]
    assert files.may_be_submitted


@pytest.fixture
def members(tmp_path: Path) -> list[JobFiles]:
    """The jobs of an array."""
    home = Directory(str(tmp_path))
    found = [JobFiles(home, f"job-{rank}", make=True) for rank in range(3)]
    for rank, files in enumerate(found):
        plan = {"slurm": {"array": {"id": "job-0", "rank": rank, "count": 3}}}
        files.directory.write("plan.json", json.dumps(plan).encode())
    return found


def test_the_jobs_of_an_array_are_one_call(
    slurm: Slurm, members: list[JobFiles], asker: Asker
) -> None:
    for files in members:
        assert slurm.calls == []
        asker.submit(files)
    assert slurm.words == ["sbatch", "--parsable", "--array=0-2", "2/script.sbatch"]
    slurm.answer()
    assert slurm.calls == ["sbatch"]
    assert asker.answers == [("12_0", ""), ("12_1", ""), ("12_2", "")]
    assert [files.number for files in members] == ["12_0", "12_1", "12_2"]


def test_a_refused_array_is_refused_for_each(
    slurm: Slurm, members: list[JobFiles], asker: Asker
) -> None:
    said = b"sbatch: error: Batch job submission failed: Invalid job array specification\n"
    slurm.sbatch = Result(["sbatch"], 1, b"", said)
    for files in members:
        asker.submit(files)
    slurm.answer()
    assert len(asker.answers) == 3
    assert all("smaller --num-jobs" in text for _, text in asker.answers)
    assert not any(files.may_be_submitted for files in members)


def test_of_an_array_that_may_be_there_each_job_is_looked_for_with_one_question(
    slurm: Slurm, members: list[JobFiles], asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    for files in members:
        files.begin_submission()
    waiting: list[Callable[[bool], None]] = []
    monkeypatch.setattr(slurm, "when_asked", waiting.append)
    slurm.accounting, slurm.books = accounting.DATABASE, "9_1|trainway:job-0\n"
    slurm.states = {"9_0": QueueState("9_0", "PENDING", comment="trainway:job-0")}
    for files in members:
        asker.submit(files)
    (callback,) = waiting
    callback(True)
    assert asker.answers == [("9_0", ""), ("9_1", "")]
    (go,) = slurm.timers
    go()
    assert slurm.words[2:] == ["--array=2", "2/script.sbatch"]
    slurm.answer()
    assert slurm.calls == ["sacct", "sbatch"]
    assert asker.answers[2:] == [("12_2", "")]


def test_what_cannot_be_written_is_not_waited_for(
    slurm: Slurm, files: JobFiles, asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "begin_submission", full)
    asker.submit(files)
    assert slurm.calls == []
    assert "No space left on device" in asker.answers[0][1]
