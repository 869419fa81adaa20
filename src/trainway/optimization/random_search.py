"""Random search: values that depend on the seed and the index of a trial alone."""

import random

from trainway.optimization.study import Study


def drawn(study: Study, index: int) -> dict[str, str]:
    """Values at random: the same for the same seed and index, with every version of Python."""
    return {
        name: space.draw(random.Random(f"{study.seed}/{index}/{name}"))  # noqa: S311 - repeatable
        for name, space in study.spaces.items()
    }
