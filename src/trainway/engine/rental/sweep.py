"""Machines that carry the id of this server and that its ledger does not know."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class SweptMachine:
    """A machine that nobody needs."""

    cloud: str
    region: str
    id: str
    cluster: str
    token: str
    instance_type: str
    state: str
    ended: bool
    """Whether it was ended now; False where that was not asked for, or failed."""
    problem: str = ""


@dataclass(frozen=True)
class SweepReport:
    """What a sweep has found."""

    machines: Sequence[SweptMachine]
    problems: Sequence[str]
    """Where it could not look, and why."""
