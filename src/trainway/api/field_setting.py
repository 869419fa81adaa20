"""One field of a job set to another value: `spec.trainer.numNodes=4`, as `jobs rerun --set` has it.

A path goes by names of fields, and in a list by the `name` of an item or by its index. A name with
dots stands in brackets: `metadata.labels[example.org/team]=nlp`. The value is YAML, and `null`
removes the field. A field that the schema of the job does not have is refused. Pure.
"""

import copy
import re
from dataclasses import dataclass
from typing import Any, Final

from trainway.api.kinds import KINDS
from trainway.api.yaml_composer import compose
from trainway.errors import ManifestError, UsageError
from trainway.jobset.model import API_VERSION as JOBSET_VERSION
from trainway.jobset.model import KIND as JOBSET_KIND
from trainway.jobset.spec import JOBSET
from trainway.json_types import Json
from trainway.schema.structural import Schema
from trainway.schema.validation import unknown_field

_OPTION: Final = "set"
_ANYTHING: Final = Schema(preserve_unknown=True)
_STEP: Final = re.compile(r"\.?(?:\[([^\]]+)\]|([^.\[\]=]+))")
_TASK: Final = "Task"
_FIXED: Final = frozenset({"apiVersion", "kind", "status"})


@dataclass(frozen=True)
class FieldSetting:
    """A path, and what to put there."""

    text: str
    """As it was written."""
    steps: tuple[str, ...]
    value: str
    """The value as it was written."""

    @property
    def path(self) -> str:
        """The path as it was written."""
        return self.text.removesuffix(f"={self.value}")


def parse_setting(text: str) -> FieldSetting:
    """A setting as written: `PATH=VALUE`."""
    steps: list[str] = []
    end = 0
    while (found := _STEP.match(text, end)) is not None:
        steps.append(found[1] or found[2])
        end = found.end()
    if not steps or text[end : end + 1] != "=" or text.startswith("."):
        raise UsageError(
            f"{text[:100]!r} is not PATH=VALUE",
            field=_OPTION,
            hint="write for example spec.trainer.numNodes=4",
        )
    return FieldSetting(text, tuple(steps), text[end + 1 :])


def with_setting(job: Json, setting: FieldSetting) -> Json:
    """The job with that field set; a UsageError names the field that does not exist."""
    steps, schema = setting.steps, _schema_of(job)
    if job.get("kind") == _TASK and steps[0] not in ("metadata", "spec"):
        steps = (*_only_task(job, setting), *steps)
    if steps[0] in _FIXED:
        raise _problem(setting, f"{steps[0]} cannot be changed")
    changed: Json = copy.deepcopy(job)
    _put(changed, steps, schema, setting)
    return changed


def _only_task(job: Json, setting: FieldSetting) -> tuple[str, ...]:
    """Where a task is in its object, so that its fields are named as in its file."""
    tasks = (job.get("spec") or {}).get("tasks") or ()
    if len(tasks) != 1:
        raise _problem(
            setting,
            f"the job has {len(tasks)} tasks",
            hint="name one of them: spec.tasks.0.task.num_nodes=2",
        )
    return ("spec", "tasks", "0", "task")


def _schema_of(job: Json) -> Schema:
    type_ = str(job.get("apiVersion")), str(job.get("kind"))
    if type_ == (JOBSET_VERSION, JOBSET_KIND):
        return JOBSET
    return KINDS[type_].schema() if type_ in KINDS else _ANYTHING


def _put(target: Any, steps: tuple[str, ...], schema: Schema, setting: FieldSetting) -> None:
    """Walk down to the last step, making the maps that are missing, and set it."""
    for number, step in enumerate(steps):
        below = _below(schema, step, steps[: number + 1], setting)
        is_last = number == len(steps) - 1
        if isinstance(target, list):
            key: Any = _index(target, steps[: number + 1], setting)
        elif isinstance(target, dict):
            key = step
        else:
            where = ".".join(steps[:number])
            raise _problem(setting, f"{where} is a single value, and has no field {step!r}")
        if is_last:
            _assign(target, key, _value(setting, below))
            return
        if isinstance(target, dict) and target.get(key) is None:
            target[key] = [] if below.type == "array" else {}
        target, schema = target[key], below


def _assign(target: Any, key: Any, value: Any) -> None:
    if value is not None:
        target[key] = value
    elif isinstance(target, list):
        del target[key]
    else:
        target.pop(key, None)


def _below(schema: Schema, step: str, path: tuple[str, ...], setting: FieldSetting) -> Schema:
    """What the schema says of one step further down."""
    if schema.type == "array":
        return schema.items or _ANYTHING
    if step in schema.properties:
        return schema.properties[step]
    if schema.additional is not None:
        return schema.additional
    if schema.preserve_unknown or not schema.properties:
        if schema.type in ("string", "integer", "number", "boolean"):
            where = ".".join(path[:-1])
            raise _problem(setting, f"{where} is a single value, and has no field {step!r}")
        return _ANYTHING
    raise UsageError(
        str(unknown_field(path, schema.properties)),
        field=_OPTION,
        hint="trainway jobs show NAME -o yaml shows the fields of the job under spec.objects",
    )


def _index(items: list[Any], path: tuple[str, ...], setting: FieldSetting) -> int:
    """The item of a list that a step means."""
    step, where = path[-1], ".".join(path[:-1])
    names = [str(item["name"]) for item in items if isinstance(item, dict) and "name" in item]
    if step in names and len(names) == len(items):
        return names.index(step)
    if step.isascii() and step.isdecimal() and len(step) < 10 and int(step) < len(items):
        return int(step)
    known = f"it has {', '.join(names)}" if names else f"it has {len(items)} items"
    raise _problem(setting, f"{where} has no item {step!r}; {known}")


def _value(setting: FieldSetting, schema: Schema) -> Any:
    """The value by YAML; a field that is text gets the text."""
    try:
        documents = list(compose(setting.value))
    except ManifestError as error:
        raise _problem(setting, f"the value is not YAML: {error.message}") from None
    if len(documents) > 1:
        raise _problem(setting, "the value is more than one YAML document")
    value = documents[0][0] if documents else None
    is_scalar = isinstance(value, int | float | bool)
    return setting.value.strip() if schema.type == "string" and is_scalar else value


def _problem(setting: FieldSetting, message: str, hint: str | None = None) -> UsageError:
    return UsageError(f"{setting.path}: {message}", field=_OPTION, hint=hint)
