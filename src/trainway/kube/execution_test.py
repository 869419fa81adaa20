from dataclasses import dataclass
from typing import Any

import pytest

from trainway.kube.errors import ApiError
from trainway.kube.execution import exit_code


@dataclass(frozen=True)
class Case:
    name: str
    status: dict[str, Any]
    code: int


def _failure(cause: str, message: str) -> dict[str, Any]:
    causes = [{"reason": "Other", "message": "9"}, {"reason": cause, "message": message}]
    return {"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": causes}}


@pytest.mark.parametrize(
    "case",
    [
        Case("success", {"status": "Success"}, 0),
        Case("a code", _failure("ExitCode", "3"), 3),
        Case("no number", _failure("ExitCode", "killed"), 137),
    ],
    ids=lambda case: case.name,
)
def test_exit_codes(case: Case) -> None:
    assert exit_code(case.status) == case.code


def test_what_did_not_run_is_an_error() -> None:
    status = {"status": "Failure", "code": 500, "message": 'exec: "nothing": not found'}
    with pytest.raises(ApiError, match="not found"):
        exit_code(status)
