"""Options of sbatch that a job, a cluster or a person passes through. Pure.

Whatever sbatch understands may be said, and Slurm itself judges it. Only what would break the way
in which a job is run is refused, with the reason and what to do instead.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from trainway.agent.slurm.sick_nodes import excluding
from trainway.compiler.devices import is_gpu
from trainway.jobset.labels import SLURM_OPTIONS, TASK_OPTIONS
from trainway.jobset.model import replicated_jobs
from trainway.jobset.requests import pod_requests

Value = str | bool
"""What follows the option; True: nothing does. False: it is left out."""
Options = Mapping[str, Value]


CPUS: Final = ("cpus-per-task",)
MEMORY: Final = ("mem", "mem-per-cpu", "mem-per-gpu")
GPUS: Final = ("gres", "gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket")
NODES: Final = ("nodes", "ntasks-per-node")
COMMENT: Final = "comment"
REQUEUE: Final = ("requeue", "no-requeue")
JOB_WIDE: Final = frozenset(
    {*REQUEUE, COMMENT, "hold", "mail-type", "mail-user", "nice", "priority"}
)
"""The options that are given once for a heterogeneous job, not for each of its parts."""

_FILES: Final = "every rank has a log of its own: trainway jobs logs shows them"
_COUNT: Final = "it follows from the pods of the job"
OWNED: Final[Mapping[str, str]] = {
    "array": "several jobs at once are submitted with --num-jobs N",
    "chdir": "the job starts in the directory from which it was submitted",
    "error": _FILES,
    "hetjob": "roles that ask for different nodes become parts by themselves",
    "het-group": "roles that ask for different nodes become parts by themselves",
    "input": "a job has no standard input",
    "job-name": "name the job: --name, or metadata.name",
    "ntasks": _COUNT,
    "open-mode": _FILES,
    "output": _FILES,
    "parsable": "it changes what sbatch prints, not the job",
    "quiet": "it changes what sbatch prints, not the job",
    "signal": "the grace period is the pods': terminationGracePeriodSeconds",
    "test-only": "trainway explain --on shows the script, and every job is tried before it is sent",
    "verbose": "it changes what sbatch prints, not the job",
    "wait": "trainway run waits unless --detach is given",
    "wrap": "the job itself says what runs",
}
"""The options that are ours, and why."""

_SHORT: Final = {
    "A": "account", "C": "constraint", "D": "chdir", "G": "gpus", "H": "hold", "J": "job-name",
    "L": "licenses", "M": "clusters", "N": "nodes", "O": "overcommit", "W": "wait", "a": "array",
    "b": "begin", "c": "cpus-per-task", "d": "dependency", "e": "error", "i": "input",
    "n": "ntasks", "o": "output", "p": "partition", "q": "qos", "t": "time", "w": "nodelist",
    "x": "exclude",
}  # fmt: skip
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f]")


def named(key: str) -> str:
    """The long name of an option, however it was written: `-p`, `--partition`, `cpus_per_task`."""
    bare = key.strip().lstrip("-")
    return _SHORT.get(bare) or bare.replace("_", "-").lower()


def errors(data: Any) -> Iterator[str]:
    """What is wrong with options by name."""
    if not isinstance(data, Mapping):
        yield "must be an object: options of sbatch by their names"
        return
    for key, value in data.items():
        name = named(str(key))
        if not _NAME.fullmatch(name):
            yield f"{key}: must be the name of an option of sbatch"
        elif name in OWNED:
            yield f"{key}: cannot be set: {OWNED[name]}"
        elif not _is_plain(value):
            yield f"{key}: must be text, a number, true or false, or a list of words"
        elif _UNPRINTABLE.search(_text(value)):
            yield f"{key}: must be one line"


def read(data: Mapping[str, Any]) -> dict[str, Value]:
    """Options in which nothing is wrong, by their long names."""
    return {
        named(str(key)): value if isinstance(value, bool) else _text(value)
        for key, value in data.items()
        if value is not None
    }


def merged(*layers: Options) -> dict[str, Value]:
    """One over the other, the last on top; what asks for the same by another name goes with it."""
    found: dict[str, Value] = {}
    for layer in layers:
        for name, value in layer.items():
            for group in (MEMORY, GPUS, REQUEUE):
                if name in group:
                    found = {key: kept for key, kept in found.items() if key not in group}
            found[name] = value
    return {name: value for name, value in found.items() if value is not False}


def keeping_off(said: Options, nodes: Collection[str]) -> Options:
    """The options, with which a job does not get these nodes either.

    Who names the nodes of a job has chosen them, and a file of nodes is not ours to write.
    """
    excluded = str(said.get("exclude", ""))
    if not nodes or "nodelist" in said or "/" in excluded:
        return said
    return {**said, "exclude": excluding(excluded, nodes)}


def of_job(source: Mapping[str, Any], jobset: Mapping[str, Any]) -> tuple[Options, list[str]]:
    """What a job says: its task's `config`, under its annotation; and what is wrong with it."""
    found: dict[str, Value] = {}
    wrong: list[str] = []
    for place, data in (*_of_tasks(jobset), *_of_annotation(source, jobset)):
        said = list(errors(data))
        wrong += [f"{place}: {text}" for text in said]
        if not said:
            found = merged(found, read(data))
    return found, wrong


def _of_annotation(*objects: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for obj in objects:
        text = _annotations(obj).get(SLURM_OPTIONS)
        if text is not None:
            place = f"metadata.annotations[{SLURM_OPTIONS}]"
            try:
                yield place, json.loads(text)
            except (ValueError, TypeError, RecursionError):
                yield place, None
            return


def _of_tasks(jobset: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What stands in `config.slurm` of tasks; one Slurm job has one set of options for them all."""
    try:
        roles = json.loads(_annotations(jobset).get(TASK_OPTIONS) or "{}")
        sections = [(task.get("config") or {}).get("slurm") or {} for task in roles.values()]
    except (ValueError, AttributeError, RecursionError):
        return  # whoever wrote it, it is not what our compiler writes
    for section in sections:
        if section.get("sbatch_options"):
            yield "config.slurm.sbatch_options", section["sbatch_options"]
        if section.get("cpu_partition") and not _asks_for_gpus(jobset):
            yield "config.slurm.cpu_partition", {"partition": section["cpu_partition"]}


def _asks_for_gpus(jobset: Mapping[str, Any]) -> bool:
    jobs = replicated_jobs(jobset.get("spec") or {})
    return any(is_gpu(name) for job in jobs for name in pod_requests(job.pod.spec))


def _annotations(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    return (obj.get("metadata") or {}).get("annotations") or {}


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str | int) and not isinstance(item, bool) for item in value)
    return value is None or isinstance(value, str | int | float)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(str(item) for item in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
