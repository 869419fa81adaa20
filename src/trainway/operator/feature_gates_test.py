from collections.abc import Mapping

import pytest

from trainway.operator.feature_gates import gates, parse_gates


@pytest.mark.parametrize(
    ("text", "values", "on"),
    [
        ("", {}, False),
        ("TrainJobStatus=true", {"TrainJobStatus": True}, True),
        (" TrainJobStatus = 1 ,", {"TrainJobStatus": True}, True),
        ("AllAlpha=true", {"AllAlpha": True}, True),
        ("AllBeta=true", {"AllBeta": True}, False),
        ("AllAlpha=true,TrainJobStatus=f", {"AllAlpha": True, "TrainJobStatus": False}, False),
    ],
)
def test_gates(text: str, values: Mapping[str, bool], on: bool) -> None:
    assert parse_gates(text) == (values, [])
    assert gates(values).train_job_status is on


def test_gates_that_are_wrong() -> None:
    _, errors = parse_gates("TrainJobStatus,AllAlpha=yes,Fast=true")
    assert [str(error) for error in errors] == [
        '--feature-gates: Invalid value: "TrainJobStatus": must be NAME=true or NAME=false',
        '--feature-gates.AllAlpha: Invalid value: "yes": must be true or false',
        (
            '--feature-gates.Fast: Invalid value: "Fast": '
            "unrecognized feature gate; the known ones are TrainJobStatus, AllAlpha, AllBeta"
        ),
    ]
