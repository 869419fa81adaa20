"""Nodes as people read them: rows of a table."""

from typing import Final

from trainway.cli.times import parse_time
from trainway.json_types import Json

HEADER: Final = (
    "PLACE", "NODE", "STATE", "CPUS", "MEMORY", "GPUS", "JOBS", "FAILURES", "SET ASIDE", "PROBLEM",
)  # fmt: skip
_GIB: Final = 1 << 30


def row(place: str, node: Json) -> list[str]:
    """The cells of a node; amounts are what is free of what there is."""
    drained = node.get("drained") or ""
    problem = node["problem"]
    return [
        place,
        node["name"],
        node["state"],
        f"{node['freeCpus']:g}/{node['cpus']:g}",
        f"{node['freeMemory'] / _GIB:.0f}/{node['memory'] / _GIB:.0f} GiB",
        f"{node['freeGpus']}/{node['gpus']}" if node["gpus"] else "",
        str(len(node["jobs"])),
        failures(node),
        aside(node),
        "" if drained and drained in problem else problem,
    ]


def aside(node: Json) -> str:
    """Why it is set aside, by whom, since and until when; empty: it is not."""
    drained = str(node.get("drained") or "")
    said = [
        f"by {node['drainedBy']}" if node.get("drainedBy") else "",
        f"since {minute(node['drainedSince'])}" if node.get("drainedSince") else "",
        f"until {minute(node['drainedUntil'])}" if node.get("drainedUntil") else "",
    ]
    known = ", ".join(part for part in said if part)
    return f"{drained} ({known})" if drained and known else drained


def minute(text: str) -> str:
    """A time that the server wrote, on the clock of this machine."""
    return parse_time(text).astimezone().strftime("%Y-%m-%d %H:%M")


def failures(node: Json) -> str:
    """The attempts of the last day that failed there, by cause: `3 (NodeLost 2, ExitCode 1)`."""
    causes = node.get("failures") or {}
    if not causes:
        return "0"
    parts = ", ".join(f"{cause} {count}" for cause, count in causes.items())
    return f"{sum(causes.values())} ({parts})"
