"""The targets that `config.yaml` names, read again when the file changes."""

from pathlib import Path

from trainway.backends.configuration import Stamp, notified, stamp
from trainway.notify.targets import Target


class ConfiguredTargets:
    """Whom the settings of a home directory notify."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._stamp: Stamp | None = None
        self._targets: list[Target] = []

    def __call__(self) -> list[Target]:
        """The targets as they are now."""
        found = stamp(self._home)
        if found != self._stamp:
            self._targets = [] if found is None else notified(self._home)
            self._stamp = found
        return self._targets
