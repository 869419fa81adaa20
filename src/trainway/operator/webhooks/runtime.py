"""What the webhook says about a TrainingRuntime or ClusterTrainingRuntime, new or changed (D8)."""

from trainway.api.admission import runtime_warnings, validate_runtime
from trainway.api.runtime import TrainingRuntime
from trainway.operator.webhooks.parsing import parsed
from trainway.operator.webhooks.review import Json, Question, allowed, denied


def validate(question: Question) -> Json:
    """All reasons why no TrainJob could run on it."""
    if not question.is_change:
        return allowed(question)
    runtime = parsed(question.object, TrainingRuntime)
    if isinstance(runtime, list):
        return denied(question, runtime)
    warnings = runtime_warnings(runtime) if question.old is None else []
    errors = validate_runtime(runtime)
    if errors:
        return denied(question, errors, warnings=warnings)
    return allowed(question, warnings=warnings)
