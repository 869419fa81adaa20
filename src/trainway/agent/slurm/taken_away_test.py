from dataclasses import dataclass, field
from pathlib import Path

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.slurm.fencing import DriverLease, Token
from trainway.agent.slurm.taken_away import PREEMPTED, are_well, begun_anew, note_end
from trainway.agent.supervisor.recovery import AGENT_LOST, ALLOCATION_LOST


@dataclass(frozen=True)
class Case:
    reason: str
    said: str
    notes: dict[str, Token] = field(default_factory=dict)
    before: str = "7.1"


@pytest.mark.parametrize(
    "case",
    [
        Case(ALLOCATION_LOST, "Slurm started the job again: this is attempt 7.2"),
        Case(PREEMPTED, "for another job", {PREEMPTED: Token("7", 1)}),
        Case(AGENT_LOST, "was killed", {AGENT_LOST: Token("7", 1)}),
        Case(ALLOCATION_LOST, "again", {PREEMPTED: Token("7", 0), AGENT_LOST: Token("6", 1)}),
        Case(AGENT_LOST, "was killed", {PREEMPTED: Token("7", 0), AGENT_LOST: Token("7", 1)}),
        Case(ALLOCATION_LOST, "again", {AGENT_LOST: Token()}, before=""),
    ],
)
def test_the_end_of_the_attempt_before_is_told(case: Case, tmp_path: Path) -> None:
    directory = Directory(str(tmp_path))
    if case.before:
        DriverLease(directory, Token.parse(case.before)).claim()
    for reason, token in case.notes.items():
        note_end(directory, reason, token)
    lease = DriverLease(directory, Token("7", 2))
    lease.claim()
    reason, said = begun_anew(lease)
    assert reason == case.reason
    assert case.said in said


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (("ALLOCATED", "MIXED+DRAIN"), True),
        (("ALLOCATED",), False),
        (("ALLOCATED", "DOWN*"), False),
        (("ALLOCATED*", "IDLE"), False),
        (("IDLE+FAIL", "IDLE"), False),
        ((), False),
    ],
)
def test_nodes_are_well_if_slurm_has_all_of_them(states: tuple[str, ...], expected: bool) -> None:
    shown = "".join(f"NodeName=n{at} State={state} Weight=1\n" for at, state in enumerate(states))
    assert are_well(shown, 2) is expected
