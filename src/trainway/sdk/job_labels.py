"""Labels that are given with a job: `team=nlp`. They stand on the object itself.

So they travel wherever the job goes, and are found in a cluster by its own means. Pure.
"""

from collections.abc import Mapping, Sequence

from trainway.errors import UsageError
from trainway.jobset.label_syntax import label_problem
from trainway.json_types import Json
from trainway.sdk.manifests import JOB_KINDS

_KINDS = (*JOB_KINDS, "Task")


def parse_labels(texts: Sequence[str]) -> dict[str, str]:
    """The labels that `KEY=VALUE` texts mean; the last one of a key counts."""
    found: dict[str, str] = {}
    for text in texts:
        key, has_value, value = text.partition("=")
        if not has_value:
            raise UsageError(f"--label {text}: the value is missing", hint=f"write {text}=VALUE")
        found[key] = value
    return found


def labelled(objects: Sequence[Json], labels: Mapping[str, str]) -> list[Json]:
    """The objects, with the labels on the job among them; those of its own of that key give way."""
    for key, value in labels.items():
        problem = label_problem(key, value)
        if problem is not None:
            raise UsageError(f"the label {key}={value} cannot be set: {problem}", field="labels")
    if not labels:
        return list(objects)
    return [_with(obj, labels) if obj.get("kind") in _KINDS else obj for obj in objects]


def _with(obj: Json, labels: Mapping[str, str]) -> Json:
    metadata = obj.get("metadata")
    given = metadata if isinstance(metadata, dict) else {}
    known = given.get("labels") if isinstance(given.get("labels"), dict) else {}
    return {**obj, "metadata": {**given, "labels": {**(known or {}), **labels}}}
