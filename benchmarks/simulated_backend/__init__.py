"""A backend that runs nothing, for `benchmarks/managed.py`: jobs there run until cancelled."""

from typing import Final

from trainway.families.family import Clusters, Family, Runs

FAMILY: Final = Family(
    "simulated",
    "simulated_backend.backend:SimulatedBackend",
    runs=Runs.PROCESSES,
    clusters=Clusters.STOPPABLE,
)
