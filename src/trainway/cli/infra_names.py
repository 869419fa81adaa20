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
from trainway.families.builtin import BUILTIN, HERE
from trainway.families.family import Places
from trainway.families.table import installed_rows
from trainway.sdk.address import Home
from trainway.sdk.submitter import kubeconfig_files

_CONFIG: Final = "config.yaml"
_PATTERN: Final = "*?!"


def infra_names(
    home: Path | None = None,
    user_home: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> list[str]:
    """All of them: this machine first, then the places of our families, and then of others."""
    home = home or Home.of_environment().path
    user_home = user_home or Path.home()
    configured = _documents(home / _CONFIG)
    others = installed_rows()
    families = [*BUILTIN.values(), *others]
    rows = [(row.name, row.places) for row in families if row.places is not None]
    found = [HERE, *(row.name for row in others if row.places is None)]
    for family, places in rows:
        found += [f"{family}/{name}" for name in _configured(configured, places.section)]
    for family, places in rows:
        names = [
            *(_hosts(user_home / places.ssh_config) if places.ssh_config else ()),
            *_programs(places, environ),
        ]
        found += [f"{family}/{name}" for name in names]
    for family, places in rows:
        files = kubeconfig_files(environ, user_home) if places.in_kubeconfig else []
        found += [f"{family}/{name}" for name in _contexts(files)]
    return list(dict.fromkeys(found))


def _configured(documents: list[dict[str, Any]], section: str) -> Iterator[str]:
    for document in documents if section else ():
        names = document.get(section)
        yield from (str(name) for name in (names if isinstance(names, dict) else ()))


def _programs(places: Places, environ: Mapping[str, str]) -> Iterator[str]:
    path = environ.get("PATH")
    yield from (
        name for program, name in places.programs.items() if shutil.which(program, path=path)
    )


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
