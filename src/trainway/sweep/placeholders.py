"""The values of a trial, put into its job: where `{name}` stands, and in an annotation.

`{name}` is replaced in the whole text of a job's `spec`, `annotations` and `labels`, for the names
of parameters alone. What a shell or a template engine would replace, `${name}` and `{{name}}`, is
left as it is. A field that is a whole number gets one.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from trainway.jobset.labels import PARAMETERS
from trainway.jobset.literal_text import literal
from trainway.json_types import Json
from trainway.sweep.parameter import ALL, Assignment, variable

_WHOLE_NUMBERS: Final = frozenset({
    "activeDeadlineSeconds", "backoffLimit", "completions", "maxRestarts", "num_nodes", "numNodes",
    "numProcPerNode", "parallelism", "replicas", "slotsPerWorker", "ttlSecondsAfterFinished",
})  # fmt: skip
_LITERAL: Final = frozenset({"command", "args", "value"})
"""Fields in which Kubernetes would replace `$(NAME)`."""


def variables(assignment: Assignment) -> dict[str, str]:
    """What the environment of a trial has."""
    each = {variable(name): value for name, value in assignment.items()}
    return {**each, ALL: written(assignment)}


def written(assignment: Assignment) -> str:
    """The parameters as one text."""
    return json.dumps(dict(assignment), ensure_ascii=False)


def words(names: Iterable[str], given: Sequence[str]) -> list[str]:
    """The words of a script or command, and `--name {name}` for parameters they do not mention."""
    missing = [name for name in names if not any(_pattern([name]).search(word) for word in given)]
    return [*given, *(word for name in missing for word in (f"--{name}", f"{{{name}}}"))]


def assigned(job: Json, assignment: Assignment, *, replace: bool) -> Json:
    """The job of one trial."""
    metadata = job.get("metadata")
    if not isinstance(metadata, dict):
        return job  # the compiler will say so
    pattern = _pattern(assignment)
    changed = dict(job)
    kept = dict(metadata)
    if replace:
        is_task = job.get("kind") == "Task"
        changed["spec"] = _filled(job.get("spec"), pattern, assignment, "", is_literal=is_task)
        for name in ("annotations", "labels"):
            if name in kept:
                kept[name] = _filled(kept[name], pattern, assignment, "", is_literal=True)
    annotations = kept.get("annotations")
    if annotations is None or isinstance(annotations, dict):
        kept["annotations"] = {**(annotations or {}), PARAMETERS: written(assignment)}
    return {**changed, "metadata": kept}


def parameters_of(job: Mapping[str, Any] | None) -> dict[str, str]:
    """The parameters that a job has, as its annotation says; none where that is no such thing."""
    metadata = (job or {}).get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    text = annotations.get(PARAMETERS) if isinstance(annotations, dict) else None
    try:
        found = json.loads(text) if isinstance(text, str) else {}
    except (ValueError, RecursionError):
        found = {}
    if not isinstance(found, dict):
        return {}
    return {name: value for name, value in found.items() if isinstance(value, str)}


def _pattern(names: Iterable[str]) -> re.Pattern[str]:
    either = "|".join(map(re.escape, names))
    return re.compile(rf"(?<![${{]){{({either})}}(?!}})")


def _filled(
    value: Any, pattern: re.Pattern[str], values: Assignment, field: str, *, is_literal: bool
) -> Any:
    match value:
        case str():
            plain = is_literal or field not in _LITERAL
            text = pattern.sub(
                lambda found: values[found[1]] if plain else literal(values[found[1]]), value
            )
            is_number = field in _WHOLE_NUMBERS and text != value and text.isdecimal()
            return int(text) if is_number else text
        case list():
            return [_filled(item, pattern, values, field, is_literal=is_literal) for item in value]
        case dict():
            return {
                name: _filled(item, pattern, values, name, is_literal=is_literal)
                for name, item in value.items()
            }
    return value
