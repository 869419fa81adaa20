"""The rows of clouds: machines are rented for a cluster, and pool agents run jobs on them.

They are apart from those of `builtin`, which are the places that everybody has: nobody who rents
nothing is shown a cloud. A provider of another package gives its cloud a row as well.
"""

from collections.abc import Mapping
from typing import Final

from trainway.families.family import Carried, Clusters, Family, Files, Places, Runs

ANY: Final = "cloud"
"""Whichever cloud is the cheapest of those that can be used."""


def row(name: str) -> Family:
    """A cloud of that name."""
    return Family(
        name,
        "trainway.backends.cloud.backend:CloudBackend",
        runs=Runs.PROCESSES,
        files=Files.STREAMED,
        carries=frozenset({Carried.DIRECTORY}),
        places=Places(),
        clusters=Clusters.STOPPABLE,
        rents=True,
        plan_part="pool",
    )


CLOUDS: Final[Mapping[str, Family]] = {
    name: row(name) for name in (ANY, "aws", "gcp", "azure", "lambda", "runpod")
}
"""Those on which machines can be rented."""
