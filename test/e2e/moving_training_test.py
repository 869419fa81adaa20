"""`benchmarks/moving.py`: a real torch DDP goes from here to hosts, to Slurm and back."""

import subprocess
import sys
from dataclasses import dataclass

import pytest
from benchmarks.moving_load import Log
from environments import REPOSITORY, unavailable

FIRST = "begins at 0 weight 1.0 ranks 2\nepoch 1 weight 1.5 loss 0.1\nepoch 2 weight 1.7 loss 0.1\n"


@pytest.mark.engine
@pytest.mark.xdist_group("moving")
def test_no_epoch_is_lost_on_the_way_and_the_history_is_one() -> None:
    command = [sys.executable, str(REPOSITORY / "benchmarks" / "moving.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 2:
        unavailable(done.stdout)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


@dataclass(frozen=True)
class Case:
    name: str
    after: str
    repeated: int = 0
    strangers: int = 0


CASES = [
    Case("well", "begins at 2 weight 1.7 ranks 2\nepoch 3 weight 1.8 loss 0.1\n"),
    Case("an epoch twice", "begins at 1 weight 1.5 ranks 2\nepoch 2 weight 1.7 loss 0.1\n", 1),
    Case("an epoch less", "begins at 3 weight 1.7 ranks 2\nepoch 4 weight 1.8 loss 0.1\n", 1, 1),
    Case("other weights", "begins at 2 weight 9.9 ranks 2\nepoch 3 weight 9.9 loss 0.1\n", 0, 1),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_wrong_is_seen(case: Case) -> None:
    found = Log.of(FIRST + case.after)

    assert (found.repeated, found.strangers) == (case.repeated, case.strangers)
