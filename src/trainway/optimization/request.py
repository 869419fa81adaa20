"""A search as it is asked for without an OptimizationJob: that object less its trials' template.

`tune` and the engine have jobs of any kind as trials. What is asked is written and checked as an
OptimizationJob would be, so that there is one set of rules and messages.
"""

from typing import Any, Final

from trainway.api.kinds import check, read
from trainway.api.optimizationjob import OptimizationJob
from trainway.errors import InvalidError
from trainway.json_types import Json
from trainway.optimization.options import search_of
from trainway.optimization.study import Study
from trainway.optimization.validation import validate_optimizationjob

API_VERSION: Final = "trainer.kubeflow.org/v1alpha1"
KIND: Final = "OptimizationJob"
TEMPLATE: Final = "trainJobTemplate"

_ANY_JOB: Final = {"spec": {"runtimeRef": {"name": "any"}}}


def requested(name: str, wanted: Json) -> Study:
    """The search of that name; an InvalidError has all reasons why not."""
    spec = wanted.get("spec")
    annotations = wanted.get("annotations")
    whole = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name, **({"annotations": annotations} if annotations else {})},
        "spec": {**spec, TEMPLATE: _ANY_JOB} if isinstance(spec, dict) else spec,
    }
    return search_of(checked(whole))


def checked(job: Json) -> OptimizationJob:
    """The OptimizationJob, if it can run; an InvalidError has all reasons why not."""
    errors = list(check(job).errors)
    if not errors:
        model = read(job)
        if isinstance(model, OptimizationJob):
            errors = validate_optimizationjob(model)
            if not errors:
                return model
    raise InvalidError([f"{KIND}/{_name(job)}: {error}" for error in errors])


def split(job: Json) -> tuple[Json, Json]:
    """A valid OptimizationJob as the TrainJob of its template, and the search that is asked for."""
    template, metadata = job["spec"][TEMPLATE], job["metadata"]
    kept = {key: metadata[key] for key in ("name", "generateName", "namespace") if key in metadata}
    trainjob = {
        "apiVersion": API_VERSION,
        "kind": "TrainJob",
        "metadata": {**(template.get("metadata") or {}), **kept},
        "spec": template["spec"],
    }
    spec = {name: value for name, value in job["spec"].items() if name != TEMPLATE}
    wanted: Json = {"spec": spec}
    if metadata.get("annotations"):
        wanted["annotations"] = metadata["annotations"]
    return trainjob, wanted


def _name(job: Json) -> Any:
    metadata = job.get("metadata")
    return metadata.get("name") if isinstance(metadata, dict) else None
