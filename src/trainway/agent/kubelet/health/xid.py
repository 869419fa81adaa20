"""Xid errors: what the driver of NVIDIA has written to the log of the kernel about GPUs.

Most of them are the fault of a program, and the GPU goes on. The others mean that a GPU must be
reset or replaced, though nvidia-smi may still list it. Only what was written within the last hour
counts, since a GPU may have been reset after it. The log is often for root alone.
"""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LOG = "/dev/kmsg"
UNREADABLE = "Xid errors are not known, since the log of the kernel cannot be read"
RECENT_SECONDS = 3600.0
FATAL = {
    48: "an uncorrectable memory error",
    62: "an error of its microcontroller",
    64: "a memory row that cannot be replaced",
    74: "an error of NVLink",
    79: "it has fallen off the bus",
    95: "an uncorrectable memory error that could not be contained",
    119: "its firmware does not answer",
    120: "an error of its firmware",
    140: "an uncorrectable memory error",
}
"""The numbers after which a GPU is of no use, and what they mean."""
LONGEST_RECORD = 8192
_XID = re.compile(r"NVRM: Xid \(PCI:([0-9a-fA-F:]+)(?:\.\d+)?\): (\d+)")


def bus_name(text: str) -> str:
    """The address of a GPU in one form: nvidia-smi says 00000000:3B:00.0, the driver 0000:3b:00."""
    parts = text.strip().lower().partition(".")[0].split(":")
    return ":".join([parts[0][-4:].zfill(4), *parts[1:]]) if len(parts) > 1 else ""


def xid_problem(records: Iterable[str], uptime: float, gpus: Mapping[str, str]) -> str:
    """What recent records of the kernel say against GPUs, known by their addresses. Pure.

    `uptime`: for how many seconds the machine has been running, by which records are dated.
    """
    for record in records:
        facts, _, text = record.partition(";")
        found = _XID.search(text)
        fields = facts.split(",")
        if found is None or len(fields) < 3 or not fields[2].isdigit():
            continue
        name, number = gpus.get(bus_name(found.group(1))), int(found.group(2))
        if name is None or number not in FATAL or uptime - int(fields[2]) / 1e6 > RECENT_SECONDS:
            continue
        return f"GPU {name} had Xid error {number} within the last hour: {FATAL[number]}"
    return ""


def kernel_records(path: str = LOG) -> list[str] | None:
    """All records that the kernel still has, the oldest first; None: they are not for us."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    found: list[str] = []
    try:
        while True:
            try:
                data = os.read(fd, LONGEST_RECORD)
            except BrokenPipeError:
                continue  # it was overwritten meanwhile; the next one comes
            except BlockingIOError:
                return found
            if not data:
                return found
            found.append(data.decode("utf-8", "replace"))
    except OSError:
        return found or None
    finally:
        os.close(fd)


def uptime_seconds() -> float:
    """How long the machine has been running."""
    try:
        with open("/proc/uptime", encoding="ascii") as file:
            return float(file.read().split()[0])
    except (OSError, ValueError, IndexError):
        return 0.0
