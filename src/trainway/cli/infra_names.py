"""The names of the places where jobs can run, as far as files of this machine have them.

They are for completion alone: what a file cannot tell is left out, and one that is wrong says
nothing here, since the command itself will. Nothing is asked of a host or cluster.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from trainway.errors import TrainwayError
from trainway.sdk.address import Home
from trainway.sdk.submitter import kubeconfig_files

_CONFIG: Final = "config.yaml"
_SECTIONS: Final = {"pools": "ssh", "clusters": "slurm"}
"""The sections of the configuration, and the families of names that they make."""
_PATTERN: Final = "*?!"


def infra_names(
    home: Path | None = None,
    user_home: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> list[str]:
    """`local`, pools of hosts, hosts, Slurm clusters and the contexts of the kubeconfig."""
    home = home or Home.of_environment().path
    user_home = user_home or Path.home()
    found = [
        "local",
        *_configured(home / _CONFIG),
        *(f"ssh/{host}" for host in _hosts(user_home / ".ssh" / "config")),
        *(f"slurm/{host}" for host in _hosts(user_home / ".slurm" / "config")),
        *(["slurm/here"] if shutil.which("sbatch", path=environ.get("PATH")) else []),
        *(f"k8s/{name}" for name in _contexts(kubeconfig_files(environ, user_home))),
    ]
    return list(dict.fromkeys(found))


def _configured(path: Path) -> Iterator[str]:
    for document in _documents(path):
        for section, family in _SECTIONS.items():
            names = document.get(section)
            yield from (f"{family}/{name}" for name in (names if isinstance(names, dict) else ()))


def _contexts(files: list[str]) -> Iterator[str]:
    for file in files:
        for document in _documents(Path(file)):
            contexts = document.get("contexts")
            for item in contexts if isinstance(contexts, list) else ():
                if isinstance(item, dict) and isinstance(item.get("name"), str):
                    yield item["name"]


def _documents(path: Path) -> list[dict[str, Any]]:
    from trainway.api.manifest import parse_manifests  # noqa: PLC0415 - where there is a file

    try:
        return parse_manifests(path.read_text("utf-8-sig"))
    except (OSError, ValueError, TrainwayError):
        return []


def _hosts(path: Path) -> Iterator[str]:
    """The names behind `Host` in a configuration of ssh that are no patterns."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return
    for line in lines:
        keyword, *names = line.replace("=", " ", 1).split() or [""]
        if keyword.lower() == "host":
            yield from (name.strip('"') for name in names if not set(name) & set(_PATTERN))
