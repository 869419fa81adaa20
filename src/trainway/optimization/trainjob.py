"""The TrainJob of a trial, which says all that is known of the trial without it."""

import json
from collections.abc import Mapping
from typing import Any

from trainway.api.kinds import read
from trainway.api.optimizationjob import OptimizationJob
from trainway.api.trainjob import TrainJob
from trainway.jobset.labels import OPTIMIZATION_JOB, PARAMETERS, TRIAL_INDEX
from trainway.jobset.literal_text import literal
from trainway.json_types import Json
from trainway.optimization.names import trial_name, variables
from trainway.optimization.options import search_of
from trainway.optimization.suggestion import Suggestion, assignment


def trial_of(job: OptimizationJob, suggestion: Suggestion) -> Json:
    """The TrainJob of a trial; its owner reference is for the controller to add."""
    template = job.spec.train_job_template.to_dict()
    metadata = template.get("metadata") or {}
    spec = dict(template["spec"])
    trainer = dict(spec.get("trainer") or {})
    trainer["env"] = _with(trainer.get("env") or [], variables(suggestion.parameters))
    labels = {
        **(metadata.get("labels") or {}),
        OPTIMIZATION_JOB: job.metadata.name,
        TRIAL_INDEX: str(suggestion.index),
    }
    written = json.dumps(suggestion.parameters, ensure_ascii=False)
    annotations = {**(metadata.get("annotations") or {}), PARAMETERS: written}
    named: Json = {"name": trial_name(job.metadata.name, suggestion.index)}
    if job.metadata.namespace:
        named["namespace"] = job.metadata.namespace
    return {
        "apiVersion": job.api_version,
        "kind": "TrainJob",
        "metadata": {**metadata, **named, "labels": labels, "annotations": annotations},
        "spec": {**spec, "trainer": trainer},
    }


def first_trial(job: OptimizationJob) -> TrainJob:
    """The first TrainJob of a search, which shows what all of them are like."""
    made = read(trial_of(job, Suggestion(0, assignment(search_of(job), 0))))
    if not isinstance(made, TrainJob):
        raise TypeError(made.kind)
    return made


def _with(known: list[Any], env: Mapping[str, str]) -> list[Any]:
    kept = [item for item in known if item.get("name") not in env]
    return [*kept, *({"name": name, "value": literal(text)} for name, text in env.items())]
