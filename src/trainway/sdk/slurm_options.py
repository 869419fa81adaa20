"""Options of sbatch that someone gives for one job, as the job carries them: in an annotation.

Slurm judges them, and the server refuses those that are not to be set.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Final

from trainway.errors import UsageError
from trainway.families.table import family_of
from trainway.jobset.labels import SLURM_OPTIONS
from trainway.json_types import Json
from trainway.sdk.manifests import JOB_KINDS

Value = str | int | float | bool | None

_TASK: Final = "Task"
_ANY: Final = "any"
_FLAGS: Final = {"true": True, "false": False}


def parsed(texts: Iterable[str]) -> dict[str, Value]:
    """What `--slurm KEY[=VALUE]` says, several times; without a value it is a switch."""
    found: dict[str, Value] = {}
    for text in texts:
        name, is_given, value = text.partition("=")
        if not name.strip("- "):
            raise UsageError(f"--slurm {text}: the name is missing", hint="write --slurm qos=high")
        found[name] = _FLAGS.get(value, value) if is_given else True
    return found


def counts_at(place: str, among: str | None) -> bool:
    """Whether options are for this one of several places; None: the places that tasks name.

    A place that is not Slurm takes the job without them, if another one may be Slurm. Where none
    is they are a mistake, which `with_options` tells.
    """
    if family_of(place).options:
        return True
    if among is None or among == _ANY:
        return False
    return not any(family_of(each.strip()).options for each in among.split(","))


def with_options(
    objects: Sequence[Json], options: Mapping[str, Value], on: str | None
) -> list[Json]:
    """The objects, with the options over those that the job has already."""
    if not options:
        return list(objects)
    if not family_of(on).options:
        raise UsageError(
            "options of Slurm can only be used for jobs on Slurm",
            hint="use --slurm together with --on slurm/CLUSTER",
        )
    return [
        _with(obj, options) if obj.get("kind") in (*JOB_KINDS, _TASK) else obj for obj in objects
    ]


def _with(obj: Json, options: Mapping[str, Value]) -> Json:
    changed = deepcopy(obj)
    metadata = changed.setdefault("metadata", {})
    annotations = metadata.get("annotations") or {}
    try:
        known = json.loads(annotations.get(SLURM_OPTIONS) or "{}")
    except ValueError:
        known = None
    if not isinstance(known, dict):
        raise UsageError(f"the annotation {SLURM_OPTIONS} is not a JSON object")
    text = json.dumps({**known, **options})
    metadata["annotations"] = {**annotations, SLURM_OPTIONS: text}
    return changed
