"""A run as `explain` shows it: which jobs there would be, and the objects of the first one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from trainway.compiler.inputs import Input
from trainway.counting import counted
from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.sdk.manifests import JOB_KINDS
from trainway.sweep.parameter import MOST_TRIALS
from trainway.sweep.ranks import ranked, trial

_API_VERSION: Final = "trainway.dev/v1"
_KINDS: Final = (*JOB_KINDS, "Task")


def planned(inputs: Sequence[Input], several: Json) -> Json:
    """The run that would be made of the one job among the inputs, as `runs show -o json` has it."""
    trials = several.get("parameters")
    count = len(trials) if trials else several["num_jobs"]
    if count > MOST_TRIALS:
        raise UsageError(f"{count} jobs are too many for one run, which has {MOST_TRIALS} at most")
    name = _the_job(inputs).label.rstrip("-") or "job"
    jobs: list[Json] = [{"metadata": {"name": f"{name}-{rank}"}} for rank in range(count)]
    for job, parameters in zip(jobs, trials or (), strict=False):
        job["spec"] = {"parameters": dict(parameters)}
    return {
        "apiVersion": _API_VERSION,
        "kind": "Run",
        "metadata": {"name": name},
        "spec": {"jobs": count, "parallel": several.get("parallel")},
        "jobs": jobs,
    }


def first_inputs(inputs: Sequence[Input], several: Json, run: Json) -> list[Input]:
    """What the first job of the run would be made of."""
    count = run["spec"]["jobs"]
    given = [_renamed(item, run["jobs"][0]["metadata"]["name"]) for item in inputs]
    if "parameters" in several:
        made = trial(given, 0, count, several["parameters"][0], is_job=_is_job)
    else:
        made = ranked(given, 0, count)
    return [replace(item, data=data) for item, data in zip(inputs, made, strict=True)]


def lines(run: Json) -> list[str]:
    """The run in words, for where the output is a script."""
    count, limit = run["spec"]["jobs"], run["spec"]["parallel"]
    at_most = f", at most {limit} at a time" if limit else ""
    first = f"{counted(count, 'job')}{at_most}; the script is that of the first one"
    told = [
        (job["metadata"]["name"], job["spec"]["parameters"]) for job in run["jobs"] if "spec" in job
    ]
    each = [
        f"{name}: " + " ".join(f"{key}={value}" for key, value in found.items())
        for name, found in told
    ]
    return [f"{run['metadata']['name']}: {first}", *each]


def _is_job(obj: Json) -> bool:
    return obj.get("kind") in _KINDS


def _the_job(inputs: Sequence[Input]) -> Input:
    jobs = [item for item in inputs if _is_job(item.data)]
    if len(jobs) == 1:
        return jobs[0]
    said = f"there are {counted(len(jobs), 'job')}" if jobs else "there is no job"
    raise UsageError(
        f"several jobs can be made of one job only, and {said} in what was given",
        hint=f"name one file with one {', '.join(_KINDS[:-1])} or {_KINDS[-1]}",
    )


def _renamed(item: Input, name: str) -> Json:
    metadata = item.data.get("metadata")
    if not _is_job(item.data) or not isinstance(metadata, dict):
        return item.data
    return {**item.data, "metadata": {**metadata, "name": name}}
