"""Progress reported from inside a job, and the arithmetic of TPU slices."""

import atexit
import json
import os
import ssl
import time
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from math import prod
from pathlib import Path
from typing import Any, Final

_URL: Final = "KUBEFLOW_TRAINER_SERVER_URL"
_CA: Final = "KUBEFLOW_TRAINER_SERVER_CA_CERT"
_TOKEN: Final = "KUBEFLOW_TRAINER_SERVER_TOKEN"  # noqa: S105 - the name of a variable
_LEAST_INTERVAL_S: Final = 5.0
_TIMEOUT_S: Final = 5.0
_MOST_METRICS: Final = 256
_DONE: Final = 100


class _Reporter:
    """Sends reports, not too many; the last one is sent at the latest when the process ends."""

    def __init__(self) -> None:
        self._last = float("-inf")
        self._unsent: dict[str, Any] | None = None
        self._is_registered = False

    def report(self, status: dict[str, Any]) -> bool:
        if not os.environ.get(_URL) or not os.environ.get(_TOKEN):
            return False
        is_soon = time.monotonic() - self._last < _LEAST_INTERVAL_S
        if is_soon and status.get("progressPercentage") != _DONE:
            self._unsent = status
            if not self._is_registered:
                self._is_registered = True
                atexit.register(self.flush)
            return False
        self._unsent = None
        return self._send(status)

    def flush(self) -> None:
        """Send what was held back."""
        status, self._unsent = self._unsent, None
        if status is not None:
            with suppress(Exception):
                self._send(status)

    def _send(self, status: dict[str, Any]) -> bool:
        url, token_file = os.environ[_URL], os.environ[_TOKEN]
        request = urllib.request.Request(  # noqa: S310 - the address is the job's own
            url,
            json.dumps({"trainerStatus": status}).encode(),
            {
                "Authorization": f"Bearer {Path(token_file).read_text('utf-8').strip()}",
                "Content-Type": "application/json",
            },
        )
        context = ssl.create_default_context(cafile=os.environ.get(_CA) or None)
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S, context=context) as response:  # noqa: S310 - as above
            is_taken = bool(response.status == 200)
        if is_taken:
            self._last = time.monotonic()
        return is_taken


_reporter: Final = _Reporter()


def update_trainjob_status(
    progress_percent: int | None = None,
    estimated_remaining_seconds: int | None = None,
    metrics: Mapping[str, float | int | str] | None = None,
) -> bool:
    """Report how far training is; True if the report was taken. It never raises.

    Outside of a job nothing is sent. Within five seconds of the last report it is held back, and
    sent at the end of the process unless a later one was; 100 percent is always sent at once.
    """
    status: dict[str, Any] = {"lastUpdatedTime": datetime.now(UTC).isoformat()}
    if progress_percent is not None:
        status["progressPercentage"] = max(0, min(100, int(progress_percent)))
    if estimated_remaining_seconds is not None:
        status["estimatedRemainingSeconds"] = max(0, int(estimated_remaining_seconds))
    if metrics:
        pairs = list(metrics.items())[:_MOST_METRICS]
        status["metrics"] = [{"name": str(name), "value": str(value)} for name, value in pairs]
    try:
        return _reporter.report(status)
    except Exception:  # noqa: BLE001 - training goes on whatever becomes of a report
        return False


def get_tpu_num_nodes(num_slices: int, topology: str, chips_per_host: int = 4) -> int:
    """The hosts of so many TPU slices, each of a topology such as 2x4 or 2x2x2."""
    if num_slices <= 0 or chips_per_host <= 0:
        raise ValueError("num_slices and chips_per_host must be positive")
    sides = topology.lower().split("x")
    if len(sides) not in (2, 3) or not all(side.isdecimal() and int(side) for side in sides):
        raise ValueError(f"a topology is written AxB or AxBxC, not {topology!r}")
    chips = prod(int(side) for side in sides)
    if chips > chips_per_host and chips % chips_per_host:
        raise ValueError(f"{chips} chips cannot be shared out to hosts of {chips_per_host}")
    return num_slices * max(1, chips // chips_per_host)
