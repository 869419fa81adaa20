"""The prices that `config.yaml` names, read again when the file changes."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainway.backends import configuration
from trainway.errors import TrainwayError

log = logging.getLogger(__name__)


class ConfiguredPrices:
    """The prices of own machines in the settings of a home directory."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._stamp: configuration.Stamp | None = None
        self._prices: Mapping[str, Any] = {}

    def __call__(self) -> Mapping[str, Any]:
        """The prices as they are now; of a file that is wrong, those before it became so."""
        stamp = configuration.stamp(self._home)
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._prices = configuration.read(self._home).get("prices") or {}
            except TrainwayError as error:
                log.warning("the prices stay as they were: %s", error)
        return self._prices
