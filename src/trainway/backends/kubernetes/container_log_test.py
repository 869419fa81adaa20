import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from trainway.backends.kubernetes.container_log import (
    ContainerLog,
    ContainerState,
    Slots,
    Source,
    resumption,
    state_of,
)
from trainway.backends.kubernetes.kept_log import KeptLog
from trainway.backends.kubernetes.pods import Place
from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.connection import Connection, Endpoint
from trainway.kube.credentials import TokenFile

RUNNING: Json = {"running": {"startedAt": "2026-11-15T05:10:00Z"}}
ENDED: Json = {"terminated": {"exitCode": 1}}
WAITING: Json = {"waiting": {"reason": "CrashLoopBackOff"}}


@dataclass(frozen=True)
class Case:
    name: str
    status: Json
    state: ContainerState | None
    phase: str = "Running"
    policy: str = "Never"


@pytest.mark.parametrize(
    "case",
    [
        Case("not begun", {"state": WAITING}, None, "Pending"),
        Case("no state", {}, None, "Pending"),
        Case("running", {"state": RUNNING}, ContainerState()),
        Case("ended", {"state": ENDED}, ContainerState(is_over=True)),
        Case(
            "the pod has ended",
            {"state": ENDED},
            ContainerState(is_over=True, is_final=True),
            "Failed",
        ),
        Case(
            "may run again",
            {"state": RUNNING},
            ContainerState(may_restart=True),
            policy="OnFailure",
        ),
        Case(
            "waits to run again",
            {"state": WAITING, "lastState": ENDED},
            ContainerState(is_over=True, may_restart=True),
            policy="Always",
        ),
        Case(
            "runs again",
            {"state": RUNNING, "lastState": ENDED, "restartCount": 2},
            ContainerState(2, may_restart=True),
        ),
    ],
    ids=lambda case: case.name,
)
def test_states(case: Case) -> None:
    pod = {"spec": {"restartPolicy": case.policy}, "status": {"phase": case.phase}}
    assert state_of(pod, case.status) == case.state


def test_reading_goes_on_a_second_before_the_last_line() -> None:
    found = resumption(b"2026-11-15T05:10:00.999999Z")
    assert found == datetime(2026, 11, 15, 5, 9, 59, tzinfo=UTC)


def test_what_becomes_of_the_pod_later_does_not_matter(tmp_path: Path) -> None:
    """A log that was read to its end stays so when the pod is removed."""

    async def both() -> bool:
        gone = ContainerState(is_over=True, is_final=True, is_gone=True)
        async with Client(
            Connection(Endpoint("http://localhost:1"), TokenFile(tmp_path))
        ) as client:
            source = Source(client, "n", "p", "main")
            file = KeptLog(tmp_path, Place("node", 0, 0), "main")
            log = ContainerLog(source, file, Slots(), gone)
            await log.run()
        log.on_state(ContainerState(is_over=True))
        return log.caught_up.is_set()

    assert asyncio.run(both())
