from dataclasses import dataclass, field

import pytest

from trainway.cli.advice import advice_for
from trainway.json_types import Json


@dataclass(frozen=True)
class Case:
    cause: str | None
    said: str
    failure: Json = field(default_factory=dict)


def failed(exit_code: int | None = 1, attempt: int = 0) -> Json:
    told: Json = {"node": "node-1", "role": "node", "job": 0, "rank": 1, "attempt": attempt}
    return told if exit_code is None else {**told, "exitCode": exit_code}


@pytest.mark.parametrize(
    "case",
    [
        Case(None, ""),
        Case("SomethingNew", ""),
        Case("ExitCode", ""),
        Case("ExitCode", "trainway jobs logs a --role node --rank 1 --tail 50 shows", failed()),
        Case("ExitCode", "--tail 50 --all-attempts shows", failed(attempt=2)),
        Case("ExitCode", "a program was not found", failed(127)),
        Case("ExitCode", "not executable", failed(126)),
        Case("ExitCode", "PYTHONFAULTHANDLER=1", failed(139)),
        Case("OutOfMemory", "--memory", failed(137)),
        Case("Hang", "trainway jobs stacks a --attempt 3", failed(137, attempt=2)),
        Case("Timeout", "--timeout"),
        Case("Budget", "trainway budgets"),
        Case("Refused", "submit it again", failed(128)),
        Case("Preempted", "trainway jobs rerun a;", failed(None)),
        Case("NodeLost", "trainway jobs rerun a", failed(None)),
        Case("AgentLost", "trainway jobs rerun a"),
    ],
)
def test_it_is_said_what_to_do(case: Case) -> None:
    said = advice_for("a", {"cause": case.cause, "failure": case.failure or None})
    assert case.said in said
    assert bool(said) == bool(case.said)
