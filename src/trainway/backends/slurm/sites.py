"""Which cluster a name means: `slurm/CLUSTER[/PARTITION]`, or `slurm` for the one that there is.

Clusters stand in `config.yaml` and, as for SkyPilot, in `~/.slurm/config`. Where neither has any
and this machine has a Slurm, it is the login node of a cluster called `here`.
"""

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from trainway.backends import configuration
from trainway.backends.slurm.section import ConfiguredCluster, clusters_of, login_nodes
from trainway.errors import NotFoundError, UnreadableError, UsageError
from trainway.schema.validation import closest

FAMILY: Final = "slurm"
HERE: Final = "here"
"""The cluster of a machine on which nobody has named any."""
_SETTINGS: Final = (Path("/etc/slurm/slurm.conf"), Path("/etc/slurm-llnl/slurm.conf"))
_HINT: Final = (
    "write it into ~/.trainway/config.yaml: clusters: {hpc: {login: login.example.com}}, or into "
    "~/.slurm/config"
)


class ConfiguredClusters:
    """The clusters that a person has named, and that of this machine."""

    family = FAMILY

    def __init__(
        self,
        home: Path,
        user_home: Path | None = None,
        has_slurm: Callable[[], bool] | None = None,
    ) -> None:
        self._home = home
        self._user_home = user_home or Path.home()
        self._has_slurm = has_slurm or _has_slurm

    def names(self) -> list[str]:
        """Those that can be listed."""
        return list(self._all())

    def find(self, target: str) -> ConfiguredCluster:
        """The cluster of a name, with the partition that it goes on with."""
        name, _, partition = target.partition("/")
        known = self._all()
        if not name:
            return _only(known)
        if name not in known:
            raise self._unknown(name, known)
        return known[name].at(partition)

    def _all(self) -> dict[str, ConfiguredCluster]:
        section = configuration.read(self._home).get("clusters") or {}
        listed = self._of_file()
        described = clusters_of(section, str(self._user_home))
        found = listed | {name: each.through(listed.get(name)) for name, each in described.items()}
        if not found and self._has_slurm():
            return {HERE: ConfiguredCluster(HERE)}
        return found

    def _of_file(self) -> dict[str, ConfiguredCluster]:
        path = self._user_home / ".slurm" / "config"
        try:
            return login_nodes(path.read_text("utf-8", "replace"), str(path))
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            raise UnreadableError(f"{path}: {error.strerror}") from None

    def _unknown(self, name: str, known: Mapping[str, ConfiguredCluster]) -> NotFoundError:
        meant = closest(name, list(known))
        there = ", ".join(f"{FAMILY}/{each}" for each in known)
        example = f"name its login node in the first: clusters: {{{name}: {{login: HOST}}}}"
        return NotFoundError(
            f"there is no cluster {name!r} in {self._home / configuration.FILE} or ~/.slurm/config"
            + (f'; did you mean "{meant}"?' if meant else ""),
            field="options.backend",
            hint=f"clusters: {there}" if there else example,
        )


def _has_slurm() -> bool:
    """Whether this machine has Slurm, and not only its programs."""
    has_settings = os.environ.get("SLURM_CONF") or any(path.is_file() for path in _SETTINGS)
    return bool(has_settings) and shutil.which("sbatch") is not None


def _only(known: Mapping[str, ConfiguredCluster]) -> ConfiguredCluster:
    if len(known) == 1:
        return next(iter(known.values()))
    if not known:
        raise UsageError(
            "no Slurm cluster is configured, and this machine has no Slurm", hint=_HINT
        )
    names = ", ".join(f"{FAMILY}/{name}" for name in known)
    raise UsageError(f"there are {len(known)} Slurm clusters", hint=f"name one: {names}")
