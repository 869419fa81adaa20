import _thread
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from trainway.cli.following import Answer, Following, Outcome, Question
from trainway.errors import NotFoundError
from trainway.json_types import Json
from trainway.sdk.address import Address
from trainway.sdk.log_line import LogLine
from trainway.sdk.rest import Rest
from trainway.sdk.testing import FakeServer
from trainway.sdk.transport import Transport


class Recorder:
    """A view that remembers, and may do something when it sees something."""

    def __init__(
        self,
        on_log: Callable[[str], None] = lambda _text: None,
        on_phase: Callable[[str], None] = lambda _phase: None,
    ) -> None:
        self.phases: list[str] = []
        self.lines: list[str] = []
        self.closed = 0
        self._on_log = on_log
        self._on_phase = on_phase

    def job(self, job: Json) -> None:
        if [job["status"]["phase"]] != self.phases[-1:]:
            self.phases.append(job["status"]["phase"])
            self._on_phase(self.phases[-1])

    def logs(self, lines: Sequence[LogLine]) -> None:
        self.lines += [line.text for line in lines]
        for line in lines:
            self._on_log(line.text)

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeServer]:
    with FakeServer(tmp_path / "home") as server:
        yield server


def follow(
    fake: FakeServer, job: Json, view: Recorder, answers: Sequence[Answer] = ()
) -> tuple[Outcome, Following]:
    left = list(answers)
    rest = Rest(Transport(Address(str(fake.socket)), sleep=lambda _: None))
    following = Following(rest, job, view, lambda: left.pop(0))
    return following.run(), following


def test_logs_and_phases_are_shown_to_the_end(fake: FakeServer) -> None:
    job = fake.add_job("a")

    def on_log(text: str) -> None:
        fake.update(job, "Running" if text == "1" else "Succeeded")

    def on_phase(phase: str) -> None:
        if phase == "Running":
            fake.log(job, "2")

    fake.log(job, "1")
    view = Recorder(on_log, on_phase)
    outcome, following = follow(fake, job, view)
    assert (outcome, following.job["status"]["phase"]) == (Outcome.ENDED, "Succeeded")
    assert (view.phases, view.lines) == (["Pending", "Running", "Succeeded"], ["1", "2"])
    assert view.closed


def interrupting(_text: str) -> None:
    _thread.interrupt_main()


def test_an_interrupt_can_leave_the_job_alone(fake: FakeServer) -> None:
    job = fake.add_job("a", "Running")
    fake.log(job, "1")
    outcome, _ = follow(fake, job, Recorder(interrupting), [Answer.DETACH])
    assert (outcome, job["status"]["phase"]) == (Outcome.DETACHED, "Running")


def test_an_interrupt_can_cancel_the_job(
    fake: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    job = fake.add_job("a", "Running")
    fake.log(job, "1")
    outcome, following = follow(fake, job, Recorder(interrupting), [Answer.CANCEL])
    assert (outcome, following.job["status"]["phase"]) == (Outcome.CANCELLED, "Cancelled")
    assert capsys.readouterr().err == "cancelling the job; press Ctrl-C again to leave\n"


def test_an_interrupt_can_be_a_mistake(fake: FakeServer) -> None:
    job = fake.add_job("a", "Running")

    def on_log(text: str) -> None:
        if text == "1":
            fake.log(job, "2")
            interrupting("")
        else:
            fake.update(job, "Failed")

    fake.log(job, "1")
    view = Recorder(on_log)
    outcome, _ = follow(fake, job, view, [Answer.GO_ON])
    assert (outcome, view.lines) == (Outcome.ENDED, ["1", "2"])


def test_an_error_of_a_stream_reaches_the_user(fake: FakeServer) -> None:
    job = fake.add_job("a", "Running")
    del fake.jobs["id0000"]
    with pytest.raises(NotFoundError):
        follow(fake, job, Recorder())


def test_a_slow_reader_gets_every_line(fake: FakeServer) -> None:
    job = fake.add_job("a", "Succeeded")
    for number in range(7000):
        fake.log(job, str(number))
    view = Recorder()
    follow(fake, job, view)
    assert view.lines == [str(number) for number in range(7000)]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("d\n", Answer.DETACH),
        ("Cancel\n", Answer.CANCEL),
        ("\n", Answer.GO_ON),
        ("x\n", Answer.GO_ON),
        ("", Answer.DETACH),
    ],
)
def test_the_question_is_asked_at_the_terminal(
    typed: str, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert Question()() is answer


def test_a_second_interrupt_at_the_question_cancels(fake: FakeServer) -> None:
    job = fake.add_job("a", "Running")
    fake.log(job, "1")

    def interrupted() -> Answer:
        _thread.interrupt_main()
        return Answer.GO_ON

    rest = Rest(Transport(Address(str(fake.socket)), sleep=lambda _: None))
    outcome = Following(rest, job, Recorder(interrupting), interrupted).run()
    assert outcome is Outcome.CANCELLED


def test_without_a_terminal_the_second_interrupt_cancels(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    question = Question()
    assert [question(), question()] == [Answer.GO_ON, Answer.CANCEL]
    assert capsys.readouterr().err == "the job keeps running; press Ctrl-C again to cancel it\n"
