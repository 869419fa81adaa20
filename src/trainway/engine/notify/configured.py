"""The targets that `config.yaml` names, read again when the file changes."""

from pathlib import Path

from trainway.backends.configuration import FILE, notified
from trainway.notify.targets import Target

_Stamp = tuple[int, int, int]


class ConfiguredTargets:
    """Whom the settings of a home directory notify."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._stamp: _Stamp | None = None
        self._targets: list[Target] = []

    def __call__(self) -> list[Target]:
        """The targets as they are now."""
        stamp = _stamp(self._home / FILE)
        if stamp != self._stamp:
            self._targets = [] if stamp is None else notified(self._home)
            self._stamp = stamp
        return self._targets


def _stamp(path: Path) -> _Stamp | None:
    """Changes with the file; None: there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
