"""What would keep an OptimizationJob from running that the rules of its CRD let pass."""

import math
from collections.abc import Iterator
from typing import Final

from trainway.api.optimizationjob import OptimizationJob, Parameter, UniformSpace
from trainway.jobset.labels import TTL_SECONDS
from trainway.optimization.names import trial_name, variable
from trainway.optimization.optimizationjob import range_of
from trainway.optimization.options import option_errors
from trainway.schema.field import FieldError, Path, forbidden, invalid

_LONGEST_NAME: Final = 63
_GREATEST: Final = 2**63 - 1
_PARAMETERS: Path = ("spec", "parameters")
_TEMPLATE: Path = ("spec", "trainJobTemplate")


def validate_optimizationjob(job: OptimizationJob) -> list[FieldError]:
    """All of it; the schema of the CRD has been checked before."""
    return [*option_errors(job), *_name(job), *_variables(job), *_spaces(job), *_template(job)]


def _name(job: OptimizationJob) -> Iterator[FieldError]:
    last = trial_name(job.metadata.name, job.spec.num_trials - 1)
    if len(last) > _LONGEST_NAME:
        detail = f'the last trial would be called "{last}", which is longer than {_LONGEST_NAME}'
        yield invalid(("metadata", "name"), job.metadata.name, detail)


def _variables(job: OptimizationJob) -> Iterator[FieldError]:
    known: dict[str, str] = {}
    for index, item in enumerate(job.spec.parameters):
        other = known.setdefault(variable(item.name), item.name)
        if other != item.name:
            detail = f"it and {other} would both be the variable {variable(item.name)}"
            yield invalid((*_PARAMETERS, index, "name"), item.name, detail)


def _spaces(job: OptimizationJob) -> Iterator[FieldError]:
    for index, item in enumerate(job.spec.parameters):
        yield from _space(item, (*_PARAMETERS, index, "searchSpace"))


def _space(item: Parameter, path: Path) -> Iterator[FieldError]:
    space = item.search_space
    if space.categorical is not None:
        for index, choice in enumerate(space.categorical.choices):
            if not choice or "\0" in choice:
                detail = "must not be empty or have a NUL character"
                yield invalid((*path, "categorical", "choices", index), choice, detail)
    for name, limits in (("uniform", space.uniform), ("logUniform", space.log_uniform)):
        if limits is not None:
            yield from _limits(limits, (*path, name))


def _limits(limits: UniformSpace, path: Path) -> Iterator[FieldError]:
    for name, text in (("min", limits.min), ("max", limits.max)):
        if not math.isfinite(float(text)):
            yield invalid((*path, name), text, "is too large for a number")
            return
        if limits.type == "Int" and abs(float(text)) > _GREATEST:
            yield invalid((*path, name), text, "is too large for a whole number of 64 bits")
            return
    found = range_of(limits)
    if found.low > found.high:
        between = f"from {limits.min} to {limits.max}"
        yield invalid(path, between, "no whole number is between min and max")


def _template(job: OptimizationJob) -> Iterator[FieldError]:
    metadata = job.spec.train_job_template.metadata or {}
    if TTL_SECONDS in (metadata.get("annotations") or {}):
        detail = (
            "trials must stay until the search has ended, because nothing else has their values"
        )
        yield forbidden((*_TEMPLATE, "metadata", "annotations", (TTL_SECONDS,)), detail)
