"""What is changed of a job that is submitted again: variables, and single fields. Pure."""

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from trainway.api.field_setting import parse_setting, with_setting
from trainway.api.job_variables import entries, merged, set_in_pods
from trainway.errors import UsageError
from trainway.json_types import Json

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True)
class Amendment:
    """What is to be different."""

    env: Mapping[str, str] = field(default_factory=dict)
    set: Sequence[str] = ()
    """Settings, `PATH=VALUE`; see `field_setting`."""


AS_IT_WAS: Final = Amendment()


def amended(job: Json, amendment: Amendment) -> Json:
    """The job with all that is asked for; first the fields, then the variables."""
    for text in amendment.set:
        job = with_setting(job, parse_setting(text))
    wrong = [name for name in amendment.env if not _VARIABLE.fullmatch(name)]
    if wrong:
        raise UsageError(f"{wrong[0][:100]!r} is not a name of a variable", field="env")
    return _with_variables(job, amendment.env) if amendment.env else job


def _with_variables(job: Json, env: Mapping[str, str]) -> Json:
    changed: Json = copy.deepcopy(job)
    wanted = entries(env, {}, "")
    match job.get("kind"):
        case "TrainJob":
            trainer = _map(_map(changed, "spec"), "trainer")
            trainer["env"] = merged(trainer.get("env"), wanted)
        case "Task":
            for item in _map(changed, "spec").get("tasks") or ():
                task = _map(item, "task")
                task["envs"] = {**_map(task, "envs"), **env}
        case _:
            set_in_pods(changed, wanted)
    return changed


def _map(value: dict[str, Any], name: str) -> dict[str, Any]:
    """The map of that name, which is made if there is none."""
    if not isinstance(value.get(name), dict):
        value[name] = {}
    found: dict[str, Any] = value[name]
    return found
