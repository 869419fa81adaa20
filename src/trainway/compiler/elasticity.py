"""With how many nodes an elastic TrainJob runs: what its annotations say. Pure.

What becomes of it is in `plugins/elastic.py`; those who only write the annotations need no more
than this.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainway.jobset.labels import MAX_NODES, MIN_NODES
from trainway.json_types import Json
from trainway.schema.field import FieldError, invalid

_MOST: Final = 2**31 - 1


@dataclass(frozen=True)
class Elasticity:
    """With how many nodes a job may run."""

    minimum: int
    maximum: int

    @property
    def text(self) -> str:
        """As torchrun reads it."""
        return f"{self.minimum}:{self.maximum}"


def elasticity(annotations: Mapping[str, str]) -> Elasticity | None:
    """What the annotations of a TrainJob say, which have been checked; None: it is not elastic."""
    if MIN_NODES not in annotations:
        return None
    return Elasticity(int(annotations[MIN_NODES]), int(annotations[MAX_NODES]))


def annotation_errors(annotations: Mapping[str, str]) -> Iterator[FieldError]:
    """What is wrong with the annotations by themselves."""
    given = [name for name in (MIN_NODES, MAX_NODES) if name in annotations]
    for name in given:
        if not _is_count(annotations[name]):
            yield invalid(
                annotation_path(name), annotations[name], "must be a number of nodes, at least 1"
            )
    if len(given) == 1:
        other = MAX_NODES if given[0] == MIN_NODES else MIN_NODES
        detail = f"{other} is missing: both together make a job elastic"
        yield invalid(annotation_path(given[0]), annotations[given[0]], detail)
    elif given and all(_is_count(annotations[name]) for name in given):
        least, most = int(annotations[MIN_NODES]), int(annotations[MAX_NODES])
        if least > most:
            detail = f"must be at most {MAX_NODES}, which is {most}"
            yield invalid(annotation_path(MIN_NODES), annotations[MIN_NODES], detail)


def is_elastic(job: Mapping[str, Any]) -> bool:
    """Whether a TrainJob says with how few nodes it goes on."""
    return MIN_NODES in ((job.get("metadata") or {}).get("annotations") or {})


def with_elasticity(job: Json, minimum: int, maximum: int) -> Json:
    """The TrainJob, saying so."""
    metadata = job.get("metadata") or {}
    said = {MIN_NODES: str(minimum), MAX_NODES: str(maximum)}
    annotations = {**(metadata.get("annotations") or {}), **said}
    return {**job, "metadata": {**metadata, "annotations": annotations}}


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 10 and 1 <= int(text) <= _MOST


def annotation_path(name: str) -> tuple[Any, ...]:
    """Where an annotation stands."""
    return ("metadata", "annotations", (name,))
