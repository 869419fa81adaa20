"""On which terms rented machines shut themselves down."""

import json
from dataclasses import dataclass

import pytest

from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.cluster.unattended import ends_by_shutdown, explanation, terms
from trainway.engine.rental.record import Rental
from trainway.json_types import Json
from trainway.providers.base import MachineState
from trainway.providers.section import CloudSettings


def record(autostop: Json | None = None, worker_pool: str = "") -> ClusterRecord:
    text = json.dumps(autostop) if autostop else ""
    return ClusterRecord(
        name="dev",
        id="1",
        infra="aws",
        pool="cloud+dev",
        nodes=1,
        autostop=text,
        worker_pool=worker_pool,
    )


@dataclass(frozen=True)
class Case:
    name: str
    record: ClusterRecord
    ends: bool
    explanation: str


STOP, DOWN = {"minutes": 30, "down": False}, {"minutes": 5, "down": True}
SAID = " (they shut themselves down when no server is heard for {} minutes)"
CASES = [
    Case("nobody said that it may stop", record(), False, ""),
    Case("it stops", record(STOP), False, SAID.format(90)),
    Case("it goes down", record(DOWN), True, SAID.format(65)),
    Case("a worker", record(worker_pool="w"), True, SAID.format(60)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_machines_are_made_for_is_what_a_shutdown_does(case: Case) -> None:
    rental = Rental(cluster="dev", token="t")  # noqa: S106 - a name
    told = terms(case.record, rental, MachineState.STOPPED, CloudSettings())

    assert ends_by_shutdown(case.record) is case.ends
    assert explanation(case.record, told) == case.explanation


def test_terms_say_how_long_and_with_what() -> None:
    rental = Rental(cluster="dev", token="t")  # noqa: S106 - a name
    settings = CloudSettings(unattended_minutes=2, shutdown_command="poweroff")
    told = terms(record(worker_pool="w"), rental, MachineState.ENDED, settings)

    assert told == {"margin": 120, "worker": True, "loses": True, "command": "poweroff"}


def test_a_spot_machine_loses_nothing_that_was_to_last() -> None:
    rental = Rental(cluster="dev", token="t", spot=True)  # noqa: S106 - a name
    told = terms(record(STOP), rental, MachineState.ENDED, CloudSettings())

    assert told == {"margin": 3600, "worker": False, "loses": False}


def test_machines_that_are_paid_for_all_the_same_do_not_shut_down() -> None:
    rental = Rental(cluster="dev", token="t")  # noqa: S106 - a name

    assert terms(record(DOWN), rental, None, CloudSettings()) is None
    assert explanation(record(DOWN), None) == ""
