"""What is kept of a deleted job that had cost something: enough to add it up as before."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SpentJob:
    """One row of `spent`. Fields that hold JSON are text."""

    job_id: str
    name: str
    backend: str
    labels: str
    demand: str
    runs: str
    rates: str
    finished: str
