"""Tells Trainway, or Kubeflow Trainer on a cluster, how far a training is.

Both give every container of a job the address, the token and the certificate to report with. This
file needs only Python: copy it. Where the kubeflow SDK is installed, its `update_trainjob_status`
does the same.
"""

import atexit
import json
import os
import ssl
import time
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

URL = "KUBEFLOW_TRAINER_SERVER_URL"
SECONDS_BETWEEN = 1.0

_last = float("-inf")
_unsent: tuple[int, int | None, dict[str, float]] | None = None


def report(percent: float, remaining_seconds: float | None = None, **metrics: float) -> bool:
    """Report how far it is; call it from one rank only.

    It never raises, and takes no time when called too often: training matters more. What was held
    back last is sent at the end of the process.
    """
    global _last, _unsent  # noqa: PLW0603 (there is one job per process)
    if URL not in os.environ:
        return False
    remaining = None if remaining_seconds is None else int(remaining_seconds)
    if percent < 100 and time.monotonic() < _last + SECONDS_BETWEEN:
        _unsent = (int(percent), remaining, metrics)
        return False
    _last, _unsent = time.monotonic(), None
    return _post(int(percent), remaining, metrics)


@atexit.register
def _send_the_last() -> None:
    if _unsent is not None:
        _post(*_unsent)


def _post(percent: int, remaining: int | None, metrics: dict[str, float]) -> bool:
    status = {
        "lastUpdatedTime": datetime.now(UTC).isoformat(),
        "progressPercentage": percent,
        "metrics": [{"name": name, "value": f"{value:.6g}"} for name, value in metrics.items()],
    }
    if remaining is not None:
        status["estimatedRemainingSeconds"] = remaining
    try:
        token = Path(os.environ["KUBEFLOW_TRAINER_SERVER_TOKEN"]).read_text().strip()
        request = urllib.request.Request(
            os.environ[URL],
            data=json.dumps({"trainerStatus": status}).encode(),
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
        context = ssl.create_default_context(cafile=os.environ["KUBEFLOW_TRAINER_SERVER_CA_CERT"])
        with urllib.request.urlopen(request, timeout=5, context=context) as answer:
            return bool(answer.status == 200)
    except (OSError, KeyError, ValueError):
        return False
