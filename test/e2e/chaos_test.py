"""A tenth of `benchmarks/chaos.py`, and whether its judge would see what goes wrong."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from benchmarks.chaos_verdict import Expected, Found, Mark, judged
from environments import unavailable

REPOSITORY = Path(__file__).resolve().parents[2]
JOBS = 50
SUCCEEDS = frozenset({"Succeeded"})
JOB = Expected("train", 2, SUCCEEDS)
DONE = Found("1", "train", "Succeeded")
ENDS = tuple(Mark.of(f"ended 1 {rank} 0") for rank in range(2))


@pytest.mark.engine
@pytest.mark.xdist_group("chaos")
def test_every_job_ends_once_while_everything_is_killed() -> None:
    command = [sys.executable, str(REPOSITORY / "benchmarks" / "chaos.py"), str(JOBS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 2:
        unavailable(done.stdout)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


@dataclass(frozen=True)
class Case:
    name: str
    found: tuple[Found, ...] = (DONE,)
    marks: tuple[Mark, ...] = ENDS
    left: tuple[int, ...] = ()
    wrong: str = ""
    """Which list of the verdict has one entry; the others are empty."""
    again: int = 0


CASES = [
    Case("well"),
    Case("not there", found=(), wrong="lost"),
    Case("still running", found=(Found("1", "train", "Running"),), wrong="lost"),
    Case("failed", found=(Found("1", "train", "Failed"),), wrong="wrong"),
    Case("there twice", found=(DONE, Found("2", "train", "Succeeded")), wrong="doubled"),
    Case("beside itself", marks=(*ENDS, Mark.of("doubled 1 0 1")), wrong="doubled"),
    Case("half of a gang", marks=ENDS[:1], wrong="partial"),
    Case("halves of two", marks=(ENDS[0], Mark.of("ended 1 1 1")), wrong="partial"),
    Case("a process is left", left=(77,), wrong="orphans"),
    Case("twice to the end", marks=(*ENDS, *(Mark("ended", "1", r, "1") for r in (0, 1))), again=1),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_wrong_is_seen(case: Case) -> None:
    verdict = judged([JOB], case.found, case.marks, dict.fromkeys(case.left, "1"))

    lists = {name: value for name, value in vars(verdict).items() if isinstance(value, list)}
    assert {name for name, value in lists.items() if value} == ({case.wrong} - {""})
    assert all(len(value) <= 1 for value in lists.values())
    assert verdict.again == case.again
    assert len(verdict.troubles) == bool(case.wrong)
