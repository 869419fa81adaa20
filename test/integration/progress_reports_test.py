"""Agents, operator and server take the same reports of progress, though each checks by itself."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import ValidationError

from trainway.agent.base.progress_report import trainer_status
from trainway.operator.status_server import RefusedReportError, read_body, read_report
from trainway.server.models import Progress

TIME = "2026-01-01T00:00:00Z"
METRIC = {"name": "loss", "value": "0.1"}


@dataclass(frozen=True)
class Case:
    name: str
    status: Any
    is_fine: bool
    server_too: bool = True
    """To the server a report need not say when; its API is not Kubeflow's."""


def said(**fields: Any) -> dict[str, Any]:
    return {"lastUpdatedTime": TIME, **fields}


CASES = [
    Case("only the time", said(), True),
    Case("everything", said(progressPercentage=0, estimatedRemainingSeconds=0, metrics=[METRIC]),
         True),
    Case("the most", said(progressPercentage=100, estimatedRemainingSeconds=2**31 - 1,
                          metrics=[{"name": "n" * 64, "value": "v" * 64}] * 256), True),
    Case("nulls", said(progressPercentage=None, estimatedRemainingSeconds=None), True),
    Case("fields of a newer client", said(eta="soon"), True),
    Case("more than all", said(progressPercentage=101), False),
    Case("less than nothing", said(progressPercentage=-1), False),
    Case("half a percent", said(progressPercentage=0.5), False),
    Case("too long", said(estimatedRemainingSeconds=2**31), False),
    Case("too many metrics", said(metrics=[METRIC] * 257), False),
    Case("metrics that are no list", said(metrics=METRIC), False),
    Case("a metric that is no object", said(metrics=["loss"]), False),
    Case("a metric without a value", said(metrics=[{"name": "loss"}]), False),
    Case("a value that is a number", said(metrics=[{"name": "loss", "value": 0.1}]), False),
    Case("an empty name", said(metrics=[{"name": "", "value": "1"}]), False),
    Case("a long value", said(metrics=[{"name": "loss", "value": "v" * 65}]), False),
    Case("no object", "half", False),
    Case("a zone and fractions", {"lastUpdatedTime": "2026-01-01T02:00:00.123+02:00"}, True),
    Case("no time", {"progressPercentage": 1}, False, server_too=False),
    Case("a time that is a number", {"lastUpdatedTime": 1}, False),
    Case("a time that is a word", {"lastUpdatedTime": "soon"}, False, server_too=False),
    Case("a date", {"lastUpdatedTime": "2026-01-01"}, False, server_too=False),
]  # fmt: skip


def agent_takes(status: Any) -> bool:
    try:
        return trainer_status({"trainerStatus": status}) is not None
    except ValueError:
        return False


def operator_takes(status: Any) -> bool:
    try:
        return read_report(read_body(json.dumps({"trainerStatus": status}).encode())) is not None
    except RefusedReportError:
        return False


def server_takes(status: Any) -> bool:
    try:
        Progress.model_validate_json(json.dumps({"trainerStatus": status}))
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_report(case: Case) -> None:
    assert agent_takes(case.status) == case.is_fine
    assert operator_takes(case.status) == case.is_fine
    if case.server_too:
        assert server_takes(case.status) == case.is_fine
