"""Which jobs go back into the queue when their driver was killed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.slurm.commands import Result
from trainway.agent.slurm.relay.lost_drivers import COUNT, LostDrivers

REQUEUE = ("scontrol", "requeue", "7")
HOLD = ("scontrol", "requeuehold", "7")


@dataclass
class Journal:
    ended: bool = False

    def look(self) -> bool:
        return False


@dataclass
class Files:
    directory: Directory
    may_be_requeued: bool = True
    wished: str = "run"


@dataclass
class Job:
    files: Files
    id: str = "j"
    number: str = "7"
    staging: object = None
    journal: Journal = field(default_factory=Journal)


@dataclass
class Slurm:
    """Answers at once."""

    exit_code: str = "0:9"
    requeue: tuple[int, bytes] = (0, b"")
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def run(self, argv: Any, done: Any) -> None:
        self.asked.append(tuple(argv))
        if "show" in argv:
            shown = f"JobId=7 JobState=FAILED Restarts=1 ExitCode={self.exit_code}".encode()
            done(Result(argv, 0, shown, b""))
        else:
            done(Result(argv, self.requeue[0], b"", self.requeue[1]))


@dataclass(frozen=True)
class Case:
    name: str
    goes_on: bool = False
    state: str = "FAILED"
    exit_code: str = "0:9"
    lost: str = ""
    requeue: tuple[int, bytes] = (0, b"")
    files: dict[str, Any] = field(default_factory=dict)
    job: dict[str, Any] = field(default_factory=dict)


CASES = (
    Case("killed", goes_on=True),
    Case("killed for the third time", goes_on=True, lost="2"),
    Case("killed too often", lost="3"),
    Case("failed by itself", exit_code="1:0"),
    Case("another signal", exit_code="0:15"),
    Case("cancelled", state="CANCELLED"),
    Case("out of memory", state="OUT_OF_MEMORY"),
    Case("must not be requeued", files={"may_be_requeued": False}),
    Case("to be suspended", goes_on=True, files={"wished": "suspend"}),
    Case("to be cancelled", files={"wished": "cancel"}),
    Case("it had ended", job={"journal": Journal(ended=True)}),
    Case("its files are on the node", job={"staging": object()}),
    Case("Slurm refuses", requeue=(1, b"Job can not be requeued")),
    Case("Slurm is not done with it", goes_on=True, requeue=(1, b"Job is in transition")),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_job_goes_on_if_its_driver_was_killed(case: Case, tmp_path: Path) -> None:
    directory = Directory(str(tmp_path))
    if case.lost:
        directory.write(COUNT, case.lost.encode())
    slurm, ends, pokes = Slurm(case.exit_code, case.requeue), [], []
    job: Any = Job(Files(directory, **case.files), **case.job)
    commands: Any = slurm
    drivers = LostDrivers(commands, lambda: pokes.append(1), lambda *end: ends.append(end))

    drivers.on_end(job, {"state": case.state})

    assert (bool(pokes), not ends) == (case.goes_on, case.goes_on)
    requeue = HOLD if case.files.get("wished") == "suspend" else REQUEUE
    is_counted = case.goes_on and requeue in slurm.asked and not case.requeue[0]
    count = directory.read(COUNT).decode() if (tmp_path / COUNT).exists() else ""
    assert count == (str(int(case.lost or 0) + 1) if is_counted else case.lost)
    noted = (tmp_path / "driver-lost").read_text() if (tmp_path / "driver-lost").exists() else ""
    assert noted == ("7.1" if requeue in slurm.asked else ""), "for the next driver"


def test_it_is_asked_for_once_while_slurm_has_not_answered(tmp_path: Path) -> None:
    class Silent(Slurm):
        def run(self, argv: Any, done: Any) -> None:
            del done
            self.asked.append(tuple(argv))

    slurm = Silent()
    job: Any = Job(Files(Directory(str(tmp_path))))
    commands: Any = slurm
    drivers = LostDrivers(commands, lambda: None, lambda *_end: None)
    for _ in range(2):
        drivers.on_end(job, {"state": "FAILED"})
    assert len(slurm.asked) == 1


@dataclass(frozen=True)
class CancelledCase:
    state: str
    told: str
    ended: bool = False


CANCELLED = (
    CancelledCase("FAILED", "CANCELLED"),
    CancelledCase("NODE_FAIL", "CANCELLED"),
    CancelledCase("LOST", "CANCELLED"),
    CancelledCase("FAILED", "FAILED", ended=True),
    CancelledCase("OUT_OF_MEMORY", "OUT_OF_MEMORY"),
    CancelledCase("TIMEOUT", "TIMEOUT"),
)


@pytest.mark.parametrize("case", CANCELLED, ids=str)
def test_a_job_that_was_to_be_cancelled_has_not_failed(case: CancelledCase, tmp_path: Path) -> None:
    slurm, ends = Slurm(), []
    files = Files(Directory(str(tmp_path)), wished="cancel")
    job: Any = Job(files, journal=Journal(ended=case.ended))
    commands: Any = slurm
    drivers = LostDrivers(commands, lambda: None, lambda _job, fields: ends.append(fields))

    drivers.on_end(job, {"job": "7", "state": case.state})

    assert ends == [{"job": "7", "state": case.told}]
    assert not slurm.asked
