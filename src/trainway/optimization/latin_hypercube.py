"""The first values of a search that learns: spread evenly, and not by chance on one heap.

Each parameter is cut into as many equal parts as there are first trials, and each trial gets
another part of each: a Latin hypercube.
"""

import random

from trainway.optimization.study import Study


def latin_hypercube(study: Study, size: int, index: int) -> dict[str, str]:
    """The values of one of `size` trials, which depend on the seed alone."""
    found = {}
    for name, space in study.spaces.items():
        source = random.Random(f"{study.seed}/{size}/{name}")  # noqa: S311 - repeatable
        part = source.sample(range(size), size)[index]
        places = [source.random() for _ in range(size)]
        found[name] = space.at((part + places[index]) / size)
    return found
