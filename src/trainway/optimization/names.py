"""What trials and their variables are called, and which trial a TrainJob is by its labels."""

import re
from collections.abc import Mapping
from typing import Any, Final

from trainway.jobset.labels import TRIAL_INDEX

_PREFIX: Final = "KUBEFLOW_TRAINER_OPT_"


def trial_name(job: str, index: int) -> str:
    """The name of a trial, so that nobody can create it twice."""
    return f"{job}-{index}"


def variable(parameter: str) -> str:
    """The variable that has a parameter: `KUBEFLOW_TRAINER_OPT_WEIGHT_DECAY` for `weight-decay`."""
    return _PREFIX + re.sub("[^A-Z0-9]", "_", parameter.upper())


def variables(parameters: Mapping[str, str]) -> dict[str, str]:
    """What the environment of a trial has."""
    return {variable(name): text for name, text in parameters.items()}


def index_of(trial: Mapping[str, Any]) -> int | None:
    """The index of a TrainJob that is a trial."""
    labels = (trial.get("metadata") or {}).get("labels")
    text = labels.get(TRIAL_INDEX) if isinstance(labels, dict) else None
    return int(text) if isinstance(text, str) and re.fullmatch("[0-9]{1,9}", text) else None
