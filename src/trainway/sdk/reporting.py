"""`trainway.report`: what training code tells of itself, from inside a job.

A thread of its own sends the reports to the address that every process of a job has in its
environment, so training never waits for one. Where there is no such address, nothing is done.
"""

import atexit
import http.client
import json
import os
import ssl
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, SupportsFloat
from urllib.parse import urlsplit

from trainway.jobset.job_remarks import link_problem
from trainway.sdk.stack_handler import register_stacks

URL: Final = "KUBEFLOW_TRAINER_SERVER_URL"
CA: Final = "KUBEFLOW_TRAINER_SERVER_CA_CERT"
TOKEN: Final = "KUBEFLOW_TRAINER_SERVER_TOKEN"  # noqa: S105 - the name of a variable
RANKS: Final = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "TRAINWAY_RANK")
"""Variables that name the rank of a process; the first that is set counts."""

LINKS: Final = "links"
"""What is sent in place of a report to register links."""

_TIMEOUT_S: Final = 5.0
_LAST_WAIT_S: Final = 5.0
"""How long the end of a process may be held up by a report that is not sent yet."""
_LONGEST_WAIT_S: Final = 30.0
"""How long all such reports together may hold it up."""
_GAP_S: Final = 0.05
"""The least time between two reports, while the process runs."""
_MOST_HELD: Final = 1_000
_MOST_METRICS: Final = 256
_NAME_LIMIT: Final = 64
_DONE: Final = 100


def report(
    *,
    step: int | None = None,
    epoch: float | None = None,
    progress: float | None = None,
    remaining_seconds: float | None = None,
    all_ranks: bool = False,
    **metrics: SupportsFloat,
) -> None:
    """Report metrics of a training, such as `report(step=10, loss=0.5)`, from inside a job.

    `progress` is how much is done, in percent, and `remaining_seconds` how long the rest will take.
    It returns at once, never raises, and does nothing outside of a job. Only rank 0 reports; with
    `all_ranks` the others do too, and the series of rank 3 is called `loss@3`.
    """
    with suppress(Exception):  # training goes on whatever becomes of a report
        if os.environ.get(URL):
            register_stacks()
        rank = rank_of(os.environ)
        if os.environ.get(URL) and os.environ.get(TOKEN) and (rank == 0 or all_ranks):
            suffix = f"@{rank}" if rank else ""
            now = datetime.now(UTC)
            status = status_of(now, step, epoch, progress, metrics, suffix)
            if remaining_seconds is not None:
                status["estimatedRemainingSeconds"] = max(0, int(remaining_seconds))
            _sender.put(status)


def link(name: str, url: str) -> None:
    """Register where something of this job is shown, such as `link("wandb", run.url)`.

    It is shown with the job. It returns at once, never raises, and does nothing outside of a job.
    Only rank 0 registers links. A URL that cannot be taken is named on stderr.
    """
    with suppress(Exception):  # as above
        problem = link_problem(name, url)
        if problem is not None:
            sys.stderr.write(f"trainway.link: {problem}\n")
        elif os.environ.get(URL) and os.environ.get(TOKEN) and rank_of(os.environ) == 0:
            _sender.put({LINKS: {name: url}})


def rank_of(environ: Mapping[str, str]) -> int:
    """The rank of this process; 0 where nothing says so."""
    named = next((environ[name] for name in RANKS if environ.get(name)), "0")
    return int(named) if named.isdecimal() else 0


def status_of(
    now: datetime,
    step: int | None,
    epoch: float | None,
    progress: float | None,
    metrics: Mapping[str, SupportsFloat],
    suffix: str = "",
) -> dict[str, Any]:
    """A report as it is sent, in Kubeflow Trainer's form; what is no number is left out. Pure."""
    pairs = [("step", _text(step)), ("epoch", _text(epoch))]
    length = _NAME_LIMIT - len(suffix)
    pairs += [(name[:length] + suffix, _text(value)) for name, value in metrics.items()]
    sent = [{"name": name, "value": value} for name, value in pairs if name and value]
    status: dict[str, Any] = {"lastUpdatedTime": now.isoformat()}
    if progress is not None:
        status["progressPercentage"] = max(0, min(_DONE, int(progress)))
    if sent:
        status["metrics"] = sent[:_MOST_METRICS]
    return status


def _text(value: SupportsFloat | None) -> str:
    """A number as text; empty: it is none."""
    if value is None:
        return ""
    if isinstance(value, int):
        return str(value)
    try:
        return repr(float(value))
    except (TypeError, ValueError):
        return ""


class _Sender:
    """Sends reports one after the other; where they come too fast, every second one is left out."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin anew, as in a process that was forked."""
        self._held: list[dict[str, Any]] = []
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._is_sending = False
        self._is_ending = False
        self._taken = 0
        """How many reports were sent."""
        self._context: tuple[str, ssl.SSLContext] | None = None

    def put(self, status: dict[str, Any]) -> None:
        with self._changed:
            self._held.append(status)
            if len(self._held) > _MOST_HELD:
                self._held = self._held[-1::-2][::-1]
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="report", daemon=True)
                self._thread.start()
                atexit.register(self.flush)
            self._changed.notify_all()

    def flush(self) -> None:
        """Wait until all is sent, but not for long, and not if nobody takes it."""
        deadline = time.monotonic() + _LONGEST_WAIT_S
        with self._changed:
            self._is_ending = True
            self._changed.notify_all()
            while (self._held or self._is_sending) and time.monotonic() < deadline:
                taken = self._taken
                self._changed.wait_for(partial(self._has_sent_more, taken), _LAST_WAIT_S)
                if self._taken == taken:
                    return

    def _has_sent_more(self, than: int) -> bool:
        return self._taken > than

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._held))
                status = self._held.pop(0)
                self._is_sending = True
            is_taken = False
            with suppress(Exception):
                self._send(status)
                is_taken = True
            with self._changed:
                self._is_sending = False
                self._taken += is_taken
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._is_ending, _GAP_S)

    def _send(self, status: dict[str, Any]) -> None:
        url = urlsplit(os.environ[URL])
        token = Path(os.environ[TOKEN]).read_text("utf-8").strip()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection = http.client.HTTPSConnection(
            url.hostname or "", url.port, timeout=_TIMEOUT_S, context=self._trust()
        )
        try:
            body = json.dumps(status if LINKS in status else {"trainerStatus": status}).encode()
            connection.request("POST", url.path, body, headers)
            connection.getresponse().read()
        finally:
            connection.close()

    def _trust(self) -> ssl.SSLContext:
        """What the server shows is to be signed by; read once."""
        path = os.environ.get(CA) or ""
        if self._context is None or self._context[0] != path:
            self._context = path, ssl.create_default_context(cafile=path or None)
        return self._context[1]


_sender: Final = _Sender()
os.register_at_fork(after_in_child=_sender.reset)
