"""What the webhooks say about an MPIJob: defaults, and what its controller would refuse.

MPI Operator has no webhooks. It defaults and judges a job each time it looks at it, and a wrong one
only gets an event; with ours a wrong one is never stored.
"""

from collections.abc import Iterator

from trainway.api.admission import mpijob_warnings, validate_mpijob
from trainway.api.mpijob import MPIJob, with_controller_defaults
from trainway.json_types import Json
from trainway.operator.webhooks.json_patch import json_patch
from trainway.operator.webhooks.parsing import parsed
from trainway.operator.webhooks.review import Question, allowed, denied


def default(question: Question) -> Json:
    """Fill in what the controller would.

    Nothing has judged the object yet. What is no MPIJob is passed on for the schema to refuse.
    """
    job = question.object
    if not all(isinstance(part, dict) for part in _parts(job)):
        return allowed(question)
    return allowed(question, patch=json_patch(job, with_controller_defaults(job)))


def _parts(job: Json) -> Iterator[object]:
    """Those parts of a job into which defaults are filled."""
    spec = job.get("spec")
    yield spec
    if isinstance(spec, dict):
        yield spec.get("runPolicy", {})
        roles = spec.get("mpiReplicaSpecs")
        yield roles
        if isinstance(roles, dict):
            yield from roles.values()


def validate(question: Question) -> Json:
    """All reasons why the job cannot run."""
    if not question.is_change:
        return allowed(question)
    job = parsed(question.object, MPIJob)
    if isinstance(job, list):
        return denied(question, job)
    warnings = mpijob_warnings(job)
    errors = validate_mpijob(job)
    if errors:
        return denied(question, errors, warnings=warnings)
    return allowed(question, warnings=warnings)
