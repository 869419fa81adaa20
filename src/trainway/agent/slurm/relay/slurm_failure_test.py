from dataclasses import dataclass

import pytest

from trainway.agent.slurm.commands import CANNOT_START, Result
from trainway.agent.slurm.relay.slurm_failure import Silence, explain, is_busy, is_gone


def ended(said: str, status: int | None = 1, program: str = "sbatch") -> Result:
    return Result([program], status, b"", said.encode())


@dataclass(frozen=True)
class Case:
    said: str
    message: str
    hint: str


CASES = [
    Case(
        "sbatch: error: invalid partition specified: nope\n"
        "sbatch: error: Batch job submission failed: Invalid partition name specified\n",
        "invalid partition specified: nope: Invalid partition name specified",
        "sinfo -s",
    ),
    Case(
        "sbatch: error: Batch job submission failed: "
        "Invalid account or account/partition combination specified\n",
        "Invalid account or account/partition combination specified",
        "account",
    ),
    Case(
        "sbatch: error: Batch job submission failed: Requested node configuration is not available",
        "Requested node configuration is not available",
        "sinfo -o",
    ),
    Case(
        "sbatch: error: Batch job submission failed: "
        "Requested time limit is invalid (missing or exceeds some limit)",
        "Requested time limit is invalid (missing or exceeds some limit)",
        "--slurm time=",
    ),
    Case(
        "sbatch: unrecognized option '--foo'\nTry \"sbatch --help\" for more information\n",
        "sbatch: unrecognized option '--foo'",
        "man sbatch",
    ),
    Case(
        "sbatch: error: invalid partition specified: nope\n"
        "allocation failure: Invalid partition name specified\n",
        "invalid partition specified: nope: Invalid partition name specified",
        "sinfo -s",
    ),
    Case(
        "sbatch: fatal: Could not establish a configuration source",
        "Could not establish a configuration source",
        "env: {SLURM_CONF: ...}",
    ),
    Case("sbatch: error: something new\n", "something new", ""),
    Case("", "sbatch ended with status 1", ""),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.message)
def test_slurms_own_words_with_what_to_do(case: Case) -> None:
    failure = explain(ended(case.said))
    assert failure.message == case.message
    assert case.hint in failure.hint
    assert bool(case.hint) == bool(failure.hint)
    assert not isinstance(failure, Silence)


@pytest.mark.parametrize(
    "said",
    [
        "sbatch: error: Unable to contact slurm controller (connect failure)",
        "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
        "slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
    ],
)
def test_a_controller_that_is_away_is_no_refusal(said: str) -> None:
    assert isinstance(explain(ended(said)), Silence)


def test_a_program_that_had_to_be_killed_is_no_refusal() -> None:
    assert isinstance(explain(ended("", None)), Silence)


def test_a_program_that_is_not_there() -> None:
    failure = explain(ended("squeue: No such file or directory", CANNOT_START, "squeue"))
    assert failure.message == "there is no squeue on the login node"
    assert "PATH" in failure.hint


def test_a_job_that_is_gone() -> None:
    assert is_gone(ended("scancel: error: Kill job error on job id 7: Invalid job id specified"))
    assert not is_gone(ended("scancel: error: Unable to contact slurm controller"))


@pytest.mark.parametrize(
    "said", ["Job is pending execution for job 4", "Job/step already completing or completed"]
)
def test_a_job_that_slurm_still_has_to_do_with(said: str) -> None:
    assert is_busy(ended(said))
    assert not is_busy(ended("Access/permission denied"))
