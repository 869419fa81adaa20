"""A run as the store holds it: jobs that were submitted as one, under one name."""

from collections.abc import Mapping
from dataclasses import dataclass

from trainway.engine.phases import LIVE, TERMINAL, WAITING, Phase


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """One row of `runs`."""

    id: str
    """That of the first of its jobs."""
    name: str
    backend: str
    created: str
    size: int
    """How many jobs it was submitted with."""
    parallel: int | None = None
    """How many of them may run at a time; None: as many as there is room for."""
    search: str | None = None
    """The search that the run is, as `engine.run.search` writes it; None: it is none."""
    outcome: str | None = None
    """How the search ended, as JSON; None: it has not, or there is none."""
    template: str | None = None
    """What its trials are made of, as JSON; it may be large, and only who asks for it gets it."""
    pipeline: str | None = None
    """Its tasks and their order, as `engine.run.pipeline` writes them; None: it is no pipeline."""
    budget: str | None = None
    """How much all of its jobs may cost, as `costs.budget` has it; None: anything."""


@dataclass(frozen=True)
class NewRun:
    """What is asked of jobs that are submitted as one."""

    name: str
    parallel: int | None = None
    is_array: bool = False
    """Whether they differ in nothing but their rank, so that a backend may take them as one."""
    size: int | None = None
    """How many jobs there will be; None: as many as are submitted now."""
    search: str | None = None
    template: str | None = None
    pipeline: str | None = None
    budget: str | None = None


def phase_of(counts: Mapping[str, int]) -> Phase:
    """The phase of a run whose jobs are in these phases: what is not over counts first."""
    phases = {Phase(phase) for phase, count in counts.items() if count}
    for group, phase in (
        (LIVE, Phase.RUNNING),
        (WAITING, Phase.QUEUED),
        ({Phase.PAUSED}, Phase.PAUSED),
        ({Phase.FAILED}, Phase.FAILED),
        ({Phase.CANCELLED}, Phase.CANCELLED),
    ):
        if phases & group:
            started = phases & TERMINAL and phase is Phase.QUEUED
            return Phase.RUNNING if started else phase
    return Phase.SUCCEEDED
