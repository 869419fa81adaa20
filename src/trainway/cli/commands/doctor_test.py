from dataclasses import dataclass

import pytest

from trainway.cli.commands.doctor import report_lines
from trainway.json_types import Json

GIBIBYTE = str(2**30)


def shown(capacity: Json) -> list[str]:
    """What is printed of a backend with that capacity, the server left out."""
    server = {"name": "server", "ok": True, "detail": ""}
    backend = {"name": "local", "capacity": capacity, "checks": []}
    report = {"version": "1", "python": "3", "home": "/", "server": server, "backends": [backend]}
    return [*report_lines(report, colourful=False)][3:]


@dataclass(frozen=True)
class Case:
    free: int
    total: int
    cpus: str
    gpus: str


@pytest.mark.parametrize(
    "case",
    [
        Case(1, 1, "1 of 1 CPU", "1 of 1 GPU"),
        Case(0, 1, "0 of 1 CPU", "0 of 1 GPU"),
        Case(1, 8, "1 of 8 CPUs", "1 of 8 GPUs"),
    ],
    ids=lambda case: case.cpus,
)
def test_cpus_and_gpus_are_counted_correctly(case: Case) -> None:
    amounts = [
        {"cpu": str(count), "memory": GIBIBYTE, "gpus": [str(gpu) for gpu in range(count)]}
        for count in (case.free, case.total)
    ]
    capacity = {"free": amounts[0], "total": amounts[1]}
    assert shown(capacity) == [f"local: {case.cpus}, 1.0 of 1.0 GiB memory, {case.gpus} free"]


def test_the_nodes_of_a_cluster_are_counted_correctly() -> None:
    amounts = {"cpu": "1", "memory": GIBIBYTE, "gpus": {}}
    pool = {"name": "small", "nodes": 1, "free": amounts, "total": amounts}
    capacity = {"free": {**amounts, "gpus": []}, "total": {**amounts, "gpus": []}, "pools": [pool]}
    assert shown(capacity)[1] == "      small: 1 node, 1 of 1 CPU, 1.0 of 1.0 GiB memory free"
