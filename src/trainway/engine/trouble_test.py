"""What a job that runs says of its nodes that suffer."""

from dataclasses import dataclass
from typing import Any

import pytest

from trainway.engine.trouble import trouble_of
from trainway.json_types import Json


def node(rank: int, phase: str = "Running", **more: Any) -> Json:
    return {"role": "node", "job": 0, "rank": rank, "phase": phase, "restarts": 0, **more}


KILLED = node(1, restarts=2, lastExitCode=137, lastReason="OOMKilled")


@dataclass(frozen=True)
class Case:
    name: str
    nodes: tuple[Json, ...]
    reason: str = ""
    message: str = ""


CASES = (
    Case("nobody suffers", (node(0), node(1, "Pending"))),
    Case("one has ended", (node(0, "Failed", reason="Evicted", exitCode=1),)),
    Case("one is being stopped", (KILLED | {"stopped": True},)),
    Case(
        "killed for its memory and started again",
        (node(0), KILLED),
        "OOMKilled",
        "node-1 was killed by SIGKILL: it ran out of memory; it was restarted 2 times",
    ),
    Case(
        "waits to be started again",
        (node(0, reason="CrashLoopBackOff", lastExitCode=3, lastReason="Error", restarts=1),),
        "CrashLoopBackOff",
        "node-0 exited with 3; it was restarted 1 time",
    ),
    Case(
        "its program is not there",
        (node(0, lastExitCode=128, lastReason="StartError", message="no torchrun", restarts=1),),
        "StartError",
        "node-0 could not be started: no torchrun; it was restarted 1 time",
    ),
    Case(
        "an image is missing, and another crashed",
        (KILLED, node(2, "Pending", reason="ImagePullBackOff", message="no such image")),
        "ImagePullBackOff",
        "node-2 does not run: no such image; 1 more node has trouble too",
    ),
    Case(
        "a reason without a message",
        (node(0, "Pending", reason="Unschedulable"),),
        "Unschedulable",
        "node-0 does not run: Unschedulable",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_first_node_that_suffers_is_told(case: Case) -> None:
    assert trouble_of(case.nodes) == {"reason": case.reason, "message": case.message}
