"""What the annotations of an OptimizationJob ask for that its spec cannot say."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import TypeVar

from trainway.api.optimizationjob import OptimizationJob
from trainway.jobset.labels import ALGORITHM, PRUNING
from trainway.optimization.optimizationjob import study_of
from trainway.optimization.study import OURS, Algorithm, Pruning, Study
from trainway.schema.field import FieldError, Path, not_supported

_ANNOTATIONS: Path = ("metadata", "annotations")
_Word = TypeVar("_Word", bound=StrEnum)


def search_of(job: OptimizationJob) -> Study:
    """All of the search that a valid OptimizationJob describes."""
    given = job.metadata.annotations
    return study_of(job, _named(given, ALGORITHM, Algorithm), _named(given, PRUNING, Pruning))


def option_errors(job: OptimizationJob) -> Iterator[FieldError]:
    """What is wrong with the annotations."""
    given = job.metadata.annotations
    for name, words in (
        (ALGORITHM, tuple(sorted(OURS))),
        (PRUNING, tuple(word.value for word in Pruning)),
    ):
        if name in given and given[name] not in words:
            yield not_supported((*_ANNOTATIONS, (name,)), given[name], words)


def _named(given: Mapping[str, str], name: str, words: type[_Word]) -> _Word | None:
    return words(given[name]) if name in given else None
