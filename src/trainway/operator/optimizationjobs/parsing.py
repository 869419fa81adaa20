"""An OptimizationJob as the API server has it, in the form that the search reads."""

from trainway.api.kinds import check, read
from trainway.api.optimizationjob import OptimizationJob
from trainway.json_types import Json
from trainway.optimization.validation import validate_optimizationjob
from trainway.schema.field import FieldError


def parse(obj: Json) -> tuple[OptimizationJob | None, list[FieldError]]:
    """The search with all defaults, or what is wrong with it."""
    bare: Json = {name: part for name, part in obj.items() if name != "status"}
    errors = check(bare).errors
    if errors:
        return None, errors
    job = read(bare)
    if not isinstance(job, OptimizationJob):
        raise TypeError(f"{obj['kind']} is not an OptimizationJob")
    errors = validate_optimizationjob(job)
    return (None, errors) if errors else (job, [])
