"""What is tried next.

Of random and grid search, the values of a trial depend on the seed and its index alone, so they can
be told at any time and in any order. TPE learns from the trials that have ended.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from trainway.optimization.random_search import drawn
from trainway.optimization.space import Choices
from trainway.optimization.study import Algorithm, Study
from trainway.optimization.trial import Trial


@dataclass(frozen=True)
class Suggestion:
    """A trial that is to be created."""

    index: int
    parameters: dict[str, str]


def suggest(study: Study, trials: Sequence[Trial]) -> list[Suggestion]:
    """The trials to create now, in the order of their index, which they must be created in.

    An index is never used again while a later one exists: a trial that somebody deleted counts.
    """
    begun = max((trial.index for trial in trials), default=-1) + 1
    room = study.parallel - sum(trial.is_active for trial in trials)
    indices = range(begun, min(begun + max(room, 0), study.size))
    if study.algorithm is Algorithm.TPE and indices:
        from trainway.optimization.tpe import tpe  # noqa: PLC0415 - needs an extra, and is slow

        return [Suggestion(index, found) for index, found in tpe(study, trials, indices)]
    return [Suggestion(index, assignment(study, index)) for index in indices]


def assignment(study: Study, index: int) -> dict[str, str]:
    """The values of a trial by random or grid search."""
    return _combination(study, index) if study.is_grid else drawn(study, index)


def _combination(study: Study, index: int) -> dict[str, str]:
    """That of the product of all choices; the last parameter changes fastest."""
    found: dict[str, str] = {}
    for name, space in reversed(list(study.spaces.items())):
        if not isinstance(space, Choices):
            raise TypeError("a grid has choices alone")
        index, position = divmod(index, len(space.values))
        found[name] = space.values[position]
    return {name: found[name] for name in study.spaces}
