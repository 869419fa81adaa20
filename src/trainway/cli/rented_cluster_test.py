"""What people see while machines are rented for their cluster."""

from typing import cast

import pytest

from trainway.cli.refusal import RefusedError
from trainway.cli.rented_cluster import until_up
from trainway.json_types import Json
from trainway.sdk.cluster_rest import ClusterRest


def cluster(phase: str, message: str = "", infra: str = "aws", **rental: object) -> Json:
    status = {"phase": phase, "message": message, "rental": rental or None}
    return {"metadata": {"name": "dev"}, "spec": {"infra": infra}, "status": status}


class Answers:
    """A server that says one thing after the other."""

    def __init__(self, *answers: Json) -> None:
        self.answers = list(answers)

    def cluster(self, name: str) -> Json:
        assert name == "dev"
        return self.answers.pop(0)


def waited(first: Json, *answers: Json) -> Json:
    return until_up(cast("ClusterRest", Answers(*answers)), first, pause=lambda _: None)


def test_every_step_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    found = waited(
        cluster("INIT"),
        cluster("INIT", "renting 1 machine: m5.large on aws/us-east-1"),
        cluster("INIT", "renting 1 machine: m5.large on aws/us-east-1"),
        cluster("INIT", "its machines are starting"),
        cluster("UP", infra="aws/us-east-1/us-east-1a"),
    )

    assert found["status"]["phase"] == "UP"
    assert capsys.readouterr().err.splitlines() == [
        "dev: renting 1 machine: m5.large on aws/us-east-1",
        "dev: its machines are starting",
    ]


def test_a_cluster_that_is_not_rented_is_not_waited_for() -> None:
    assert waited(cluster("INIT", infra="ssh/lab"))["status"]["phase"] == "INIT"


def test_what_was_tried_is_said_where_nothing_was_to_be_had() -> None:
    tried = {"infra": "aws/us-east-1", "instanceType": "p5.48xlarge", "error": "no capacity"}
    with pytest.raises(RefusedError) as caught:
        waited(cluster("INIT"), cluster("STOPPED", "no cloud has 8 H100", history=[tried]))

    assert caught.value.lines == (
        "aws/us-east-1 p5.48xlarge: no capacity",
        "cluster dev has no machines: no cloud has 8 H100 (trainway start dev tries again)",
    )
