"""A cluster with the CRDs of an upstream project in place of ours."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from cluster.access import Access
from cluster.control_plane import ControlPlane
from cluster.fixtures import running, unavailable


def cluster_with_crds_of(module: str, files: str) -> Iterator[Access]:
    """A cluster of its own, for others have our CRDs; `files` is a pattern within the module."""
    folder = module_folder(module)
    for cluster in running(ControlPlane):
        cluster.install_jobset_crds()
        for file in sorted(folder.glob(files)):
            cluster.install_crds(file)
        yield cluster


def module_folder(module: str) -> Path:
    """The source of a Go module of exactly this version."""
    if shutil.which("go") is None:
        unavailable(f"{module}: Go is not installed")
    command = ["go", "mod", "download", "-json", module]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        unavailable(f"{module}: {done.stdout}{done.stderr}")
    return Path(json.loads(done.stdout)["Dir"])
