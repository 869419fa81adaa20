"""`local_disk`: a disk inside of the machine, such as `nvme:500+`, wanted for its speed."""

from dataclasses import dataclass
from typing import Final

from trainway.api.task import amounts
from trainway.api.task.amounts import Amount
from trainway.schema.shape import Either, Number, Text

NVME: Final = "nvme"
SSD: Final = "ssd"
SHAPE: Final = Either(
    (
        Number(whole=True, above=0),
        Text(
            r"((nvme|ssd):)?[0-9]{1,9}([kKmMgGtTpP][bBiI])?\+?|nvme|ssd",
            "must be nvme:500+, ssd or 500GB",
        ),
    )
)


@dataclass(frozen=True)
class LocalDisk:
    """What the disks inside of a machine must be together."""

    kind: str = ""
    """`nvme`, or `ssd`, which NVMe disks are too; empty: any."""
    size: Amount | None = None
    """In GB; None: any."""

    def __str__(self) -> str:
        size = "" if self.size is None else f"{self.size.value:g}{'+' * self.size.at_least}"
        return ":".join(part for part in (self.kind, size) if part)


def local_disk(value: float | str) -> LocalDisk:
    """A value that passed `SHAPE`."""
    text = str(value)
    if text in (NVME, SSD):
        return LocalDisk(text)
    kind, _, size = text.rpartition(":")
    return LocalDisk(kind, amounts.memory(size))
