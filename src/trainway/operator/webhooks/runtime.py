"""What the webhook says about a TrainingRuntime or ClusterTrainingRuntime, new or changed (D8)."""

from trainway.api.admission import runtime_warnings, validate_runtime, validate_runtime_update
from trainway.api.runtime import TrainingRuntime
from trainway.json_types import Json
from trainway.operator.webhooks.parsing import parsed
from trainway.operator.webhooks.review import Question, allowed, denied


def validate(question: Question) -> Json:
    """All reasons why TrainJobs could not run on it; a change that some survive is warned of."""
    if not question.is_change:
        return allowed(question)
    runtime = parsed(question.object, TrainingRuntime)
    if isinstance(runtime, list):
        return denied(question, runtime)
    if question.old is None:
        errors, warnings = validate_runtime(runtime), runtime_warnings(runtime)
    else:
        errors, lacks = validate_runtime_update(runtime)
        warnings = [str(problem) for problem in lacks]
    if errors:
        return denied(question, errors, warnings=warnings)
    return allowed(question, warnings=warnings)
