"""What is written down of a cluster for the backend of its jobs, in a folder of the cluster's own.

The engine writes it, whenever the cluster comes to another state; only the backend reads it, which
knows nothing of the engine's store.
"""

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trainway.backends.agents.jobdir import PRIVATE_DIR, write_private
from trainway.errors import NotFoundError, TrainwayError, UsageError
from trainway.families.table import family_of
from trainway.json_types import Json
from trainway.schema.validation import closest

_FILE: Final = "cluster.json"
_WORKING: Final = "workdir"


@dataclass(frozen=True)
class Kept:
    """A cluster, as far as its jobs are concerned."""

    name: str
    infra: str
    pool: str
    nodes: int
    amounts: Json
    """The CPUs, bytes of memory and GPUs of each node."""
    state: str
    id: str = ""
    title: str = ""
    """What it is called where a job does not fit; empty: by its name."""

    @property
    def called(self) -> str:
        """What people are told of it."""
        return self.title or f"cluster {self.name}"

    @property
    def is_local(self) -> bool:
        """Whether its jobs run where the files of whoever submits them are."""
        return not family_of(self.infra).travels


class KeptClusters:
    """The clusters below a home directory."""

    folder = "clusters"

    def __init__(self, home: Path) -> None:
        self._folder = home / self.folder

    def directory(self, name: str) -> Path:
        """The folder of a cluster."""
        return self._folder / name

    def write(self, data: Json) -> None:
        """Keep what the engine says of a cluster."""
        folder = self.directory(str(data["name"]))
        folder.mkdir(mode=PRIVATE_DIR, parents=True, exist_ok=True)
        write_private(folder / _FILE, json.dumps(data).encode())

    def working_directory(self, name: str) -> str:
        """Where jobs of a local cluster run that name no folder; empty: nobody has said yet."""
        try:
            path = (self.directory(name) / _WORKING).read_text()
        except OSError:
            return ""
        return path if Path(path).is_dir() else ""

    def keep_working_directory(self, name: str, path: str) -> None:
        """Have the jobs to come run there."""
        if path != self.working_directory(name):
            write_private(self.directory(name) / _WORKING, path.encode())

    def remove(self, name: str) -> None:
        """Forget a cluster with its folder."""
        shutil.rmtree(self.directory(name), ignore_errors=True)

    def names(self) -> list[str]:
        """All that are kept."""
        return sorted(path.parent.name for path in self._folder.glob(f"*/{_FILE}"))

    def find(self, name: str) -> Kept:
        """One of them."""
        try:
            data = json.loads((self.directory(name) / _FILE).read_bytes()) if name else None
        except (FileNotFoundError, NotADirectoryError):
            data = None
        if data is None:
            raise self._unknown(name)
        fields = {field: data[field] for field in Kept.__dataclass_fields__ if field in data}
        return Kept(**fields)

    def _unknown(self, name: str) -> TrainwayError:
        if not name:
            return UsageError(
                "the name of the cluster is missing",
                hint="use --on cluster/NAME; trainway status shows all clusters",
            )
        meant = closest(name, self.names())
        return NotFoundError(
            f"there is no cluster {name!r}" + (f'; did you mean "{meant}"?' if meant else ""),
            hint="trainway status shows them all",
        )


class KeptWorkerPools(KeptClusters):
    """The worker pools below a home directory: each as one of its workers is."""

    folder = "worker-pools"

    def _unknown(self, name: str) -> TrainwayError:
        return unknown_pool(name, self.names())


def unknown_pool(name: str, known: Iterable[str]) -> TrainwayError:
    """What is said to somebody who names a worker pool that is not there."""
    if not name:
        return UsageError(
            "the name of the worker pool is missing",
            hint="use -p NAME; trainway jobs pool status shows all worker pools",
        )
    meant = closest(name, list(known))
    return NotFoundError(
        f"there is no worker pool {name[:80]!r}" + (f'; did you mean "{meant}"?' if meant else ""),
        hint="trainway jobs pool status shows them all; trainway jobs pool apply makes one",
    )
