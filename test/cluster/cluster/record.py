"""The record of a running cluster on disk.

Whoever clears up may not be the one who started: `make cluster-down`, or the next run after one
that was killed. So the folder of each cluster has a file that names its processes and its bridge,
and its owner; the cluster is a leftover once that owner is gone.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from cluster.processes import Identity, process_start

PREFIX: Final = "trainway-cluster-"
FILE: Final = "cluster.json"


def this_process() -> Identity:
    return Identity(os.getpid(), process_start(os.getpid()))


@dataclass
class Record:
    """What a cluster consists of beside its folder."""

    folder: Path
    size: str
    stays: bool = False
    owner: Identity = field(default_factory=this_process)
    processes: list[Identity] = field(default_factory=list)
    bridge: str = ""
    containerd: str = ""  # the address of its socket

    def write(self) -> None:
        """Keep it for others."""
        content = {**asdict(self), "folder": str(self.folder)}
        partial = self.folder / f"{FILE}.partial"
        partial.write_text(json.dumps(content))
        partial.rename(self.folder / FILE)

    def is_leftover(self) -> bool:
        """Whether its owner ended without stopping it."""
        return not self.stays and not self.owner.is_alive()


def new_folder() -> Path:
    """A folder for one cluster."""
    return Path(tempfile.mkdtemp(prefix=PREFIX))


def records() -> Iterator[Record]:
    """All clusters of this machine."""
    for path in sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{FILE}")):
        try:
            content = json.loads(path.read_text())
        except FileNotFoundError:
            continue  # its owner has just removed it
        content["folder"] = path.parent
        content["owner"] = Identity(**content["owner"])
        content["processes"] = [Identity(**each) for each in content["processes"]]
        yield Record(**content)
