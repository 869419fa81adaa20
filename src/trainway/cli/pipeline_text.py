"""The tasks of a pipeline as people read them: what each comes after, and what it waits for."""

from datetime import datetime

from trainway.cli.job_text import duration
from trainway.cli.run_text import job_table
from trainway.jobset.labels import TASK
from trainway.json_types import Json


def run_table(run: Json, jobs: list[Json], now: datetime) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of jobs of a run: of trials, or of the tasks of a pipeline."""
    if not run.get("pipeline"):
        return job_table(jobs, now)
    after = {task["name"]: ", ".join(task["after"]) for task in run["pipeline"]["tasks"]}
    rows = [
        [
            job["metadata"]["name"],
            job["metadata"]["id"],
            job["status"]["phase"],
            after.get(job["metadata"]["labels"].get(TASK, ""), ""),
            duration(job["status"], now),
            job["status"]["message"],
        ]
        for job in jobs
    ]
    return ["NAME", "ID", "PHASE", "AFTER", "DURATION", "MESSAGE"], rows
