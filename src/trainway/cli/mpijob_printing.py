"""MPIJobs as kubectl prints objects: `-o yaml`, `json`, `name` and `wide`, or what was done."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from trainway.cli.columns import Columns
from trainway.cli.mpijob_text import header, row
from trainway.cli.output import echo_line, to_json, to_json_list, to_yaml
from trainway.errors import TrainwayError
from trainway.json_types import Json

PRINTED: Final = "mpijob.kubeflow.org"


def printed(jobs: Sequence[Json], output: str, done: str) -> str:
    """Jobs in a format; without one, what was done with each."""
    if output == "wide":
        now = datetime.now(UTC)
        rows = [row(job, now, wide=True, all_namespaces=False) for job in jobs]
        return Columns(header(wide=True, all_namespaces=False)).table(rows)
    if output:
        return in_format(jobs, output, is_one=len(jobs) == 1)
    return "".join(f"{PRINTED}/{title(job)} {done}\n" for job in jobs)


def in_format(jobs: Sequence[Json], output: str, *, is_one: bool) -> str:
    """Jobs as YAML, JSON or names; several are a List."""
    jobs = [_without_managers(job) for job in jobs]
    if output == "name":
        return "".join(f"{PRINTED}/{title(job)}\n" for job in jobs)
    if output == "json":
        return to_json(jobs[0]) if is_one else to_json_list(jobs)
    return to_yaml(jobs if is_one else [{"apiVersion": "v1", "kind": "List", "items": [*jobs]}])


def title(job: Json) -> str:
    """The name of a job; before the cluster has made one up, how it begins."""
    metadata = job["metadata"]
    return str(metadata.get("name") or metadata.get("generateName") or "")


def told(error: TrainwayError, jobs: Sequence[object]) -> int:
    """Say what is wrong with one of several jobs, and go on with the others; its exit status."""
    if len(jobs) == 1:
        raise error
    echo_line(f"error: {error.sentence}")
    return error.exit_code


def _without_managers(job: Json) -> Json:
    """As kubectl shows an object: without who wrote which field."""
    metadata = {key: value for key, value in job["metadata"].items() if key != "managedFields"}
    return {**job, "metadata": metadata}
