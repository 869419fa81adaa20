from dataclasses import dataclass

import pytest

from trainway.api.task.amounts import Amount
from trainway.api.task.local_disk import SHAPE, LocalDisk, local_disk
from trainway.schema.shape import check


@dataclass(frozen=True)
class Case:
    value: int | str
    expected: LocalDisk


@pytest.mark.parametrize(
    "case",
    [
        Case(500, LocalDisk("", Amount(500))),
        Case("nvme", LocalDisk("nvme")),
        Case("nvme:500+", LocalDisk("nvme", Amount(500, at_least=True))),
        Case("ssd:1TB", LocalDisk("ssd", Amount(1024))),
        Case("500GB+", LocalDisk("", Amount(500, at_least=True))),
    ],
    ids=lambda case: str(case.value),
)
def test_a_disk_inside_of_a_machine(case: Case) -> None:
    assert not list(check(SHAPE, case.value, ()))
    assert local_disk(case.value) == case.expected


def test_it_is_written_as_it_was() -> None:
    assert [str(local_disk(text)) for text in ("nvme:500+", "ssd", "500")] == [
        "nvme:500+",
        "ssd",
        "500",
    ]
