"""What a driver asks Slurm for when its elastic job lacks nodes, and what it takes back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.slurm.commands import Result
from trainway.agent.slurm.driver.annex import hold
from trainway.agent.slurm.driver.annexes import DOUBT_LOOKS, FIRST_PAUSE, Annexes, with_excluded
from trainway.agent.slurm.fencing import DriverLease, Token


@dataclass
class Slurm:
    """Takes what it is asked for, or refuses it; jobs have the numbers 8, 9 and so on."""

    refusal: bytes = b""
    state: str = "PENDING"
    calls: list[tuple[str, ...]] = field(default_factory=list)
    scripts: list[bytes] = field(default_factory=list)

    def run(
        self, argv: Sequence[str], done: Callable[[Result], None], *, stdin: bytes = b"", **_: Any
    ) -> None:
        self.calls.append(tuple(argv))
        if argv[0] == "sbatch":
            self.scripts.append(stdin)
            number = str(7 + len(self.scripts)).encode()
            done(
                Result(argv, 1, b"", self.refusal) if self.refusal else Result(argv, 0, number, b"")
            )
        else:
            done(Result(argv, 0, f"JobId=8 JobState={self.state}".encode(), b""))

    def count(self, program: str) -> int:
        return sum(call[0] == program for call in self.calls)


@dataclass
class Driver:
    path: Path
    slurm: Slurm = field(default_factory=Slurm)
    refused: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        lease = DriverLease(Directory(str(self.path)), Token("7", 0))
        lease.claim()
        slurm: Any = self.slurm
        self.annexes = Annexes(lease, slurm, ["--nodes=1"], ["py", "x y"], self.refused.append)
        self.annexes.begin()

    def files(self) -> list[str]:
        return sorted(path.name for path in (self.path / "annexes").iterdir())


@pytest.fixture
def driver(tmp_path: Path) -> Driver:
    return Driver(tmp_path)


def test_each_look_asks_for_one_until_there_are_enough(driver: Driver) -> None:
    for _ in range(4):
        driver.annexes.want(2, {"b", "a"})
    first = next(call for call in driver.slurm.calls if call[0] == "sbatch")
    assert first[-2:] == ("--nodes=1", "--exclude=a,b")
    assert driver.slurm.scripts[0].endswith(
        f"exec py 'x y' slurm annex {driver.path} 7.0\n".encode()
    )
    assert driver.files() == ["8", "9"]
    driver.annexes.want(1, ())
    assert driver.slurm.calls[-1] == ("scancel", "9")
    assert driver.files() == ["8"]


def test_one_that_has_started_is_found_and_given_back(driver: Driver) -> None:
    driver.annexes.want(1, ())
    assert driver.annexes.arrived() == []
    (driver.path / "annexes" / "8.node").write_text("d\n")
    assert driver.annexes.arrived() == [("8", "d")]
    assert driver.annexes.arrived() == []
    driver.annexes.give_back("8")
    assert driver.files() == []
    assert driver.slurm.count("scancel") == 0


def test_after_a_refusal_it_waits_longer_each_time(driver: Driver) -> None:
    driver.slurm.refusal = b"sbatch: error: no\nsbatch: error: QOSMaxJobs\n"
    for _ in range(FIRST_PAUSE + 1):
        driver.annexes.want(1, ())
    assert driver.refused == ["sbatch: error: QOSMaxJobs"] * 2
    for _ in range(2 * FIRST_PAUSE - 1):
        driver.annexes.want(1, ())
    assert driver.slurm.count("sbatch") == 2


@pytest.mark.parametrize(("state", "asked"), [("PENDING", 1), ("CANCELLED", 2)])
def test_one_that_somebody_has_cancelled_is_asked_for_again(
    driver: Driver, state: str, asked: int
) -> None:
    driver.slurm.state = state
    for _ in range(DOUBT_LOOKS + 1):
        driver.annexes.want(1, ())
    assert driver.slurm.count("sbatch") == asked


def test_the_next_attempt_withdraws_what_the_last_one_asked_for(driver: Driver) -> None:
    driver.annexes.want(1, ())
    (driver.path / "annexes" / "--all").write_text("")  # a pod may write what it likes
    after = Driver(driver.path)
    assert after.slurm.calls == [("scancel", "8")]
    assert after.files() == ["--all"]


def test_nothing_is_left_in_the_queue_at_the_end(driver: Driver) -> None:
    ends: list[bool] = []
    driver.annexes.want(1, ())
    driver.annexes.close(lambda: ends.append(True))
    driver.annexes.want(3, ())
    assert (driver.slurm.calls[-1], ends) == (("scancel", "8"), [True])


@dataclass(frozen=True)
class Case:
    id: str
    event: Callable[[Path], object]
    why: str


CASES = [
    Case("given back", lambda job: (job / "annexes/8.node").unlink(), "does not need it"),
    Case("a newer attempt", lambda job: (job / "token").write_text("7.1"), "another attempt"),
    Case("the driver left", lambda job: (job / "left").write_text("7.0"), "is over"),
    Case("the driver is silent", lambda _job: None, "is not heard"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_an_annex_goes_when_it_is_not_wanted(driver: Driver, case: Case) -> None:
    moments = iter(range(0, 10_000, 10))

    def sleep(_seconds: float) -> None:
        assert (driver.path / "annexes" / "8.node").read_text() == "d"
        case.event(driver.path)

    environ = {"SLURM_JOB_ID": "8", "SLURMD_NODENAME": "d"}
    directory = Directory(str(driver.path))
    why = hold(directory, Token("7", 0), environ, sleep, lambda: float(next(moments)))
    assert case.why in why
    assert driver.files() == []


def test_an_annex_that_comes_too_late_goes_at_once(driver: Driver) -> None:
    environ = {"SLURM_JOB_ID": "8", "SLURMD_NODENAME": "d"}
    assert "another" in hold(Directory(str(driver.path)), Token("6", 0), environ)
    assert driver.files() == []


def test_nodes_that_its_user_excludes_stay_excluded() -> None:
    assert with_excluded(["--exclude=x"], ["b", "a"]) == ["--exclude=x,a,b"]
    assert with_excluded(["--nodes=1"], []) == ["--nodes=1"]
