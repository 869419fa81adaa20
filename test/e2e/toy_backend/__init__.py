"""A backend of a package outside Trainway: one folder, one entry point, and this row."""

from typing import Final

from trainway.families.family import Clusters, Family, Runs

FAMILY: Final = Family(
    "toy", "toy_backend.backend:ToyBackend", runs=Runs.PROCESSES, clusters=Clusters.STOPPABLE
)
