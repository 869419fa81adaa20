"""The process of a head or worker: starts what it needs, says what is wrong, ends on a signal."""

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Self

import pyarrow as pa

from trainway.data.flight.connection import Connection
from trainway.data.flight.contract import HEAD, LISTENS, NOT_READY, READY
from trainway.data.flight.head import Head
from trainway.data.flight.health import Health
from trainway.data.flight.plan import Plan
from trainway.data.flight.service import Rooms, Service
from trainway.data.flight.settings import Settings, parse
from trainway.data.flight.table import plan
from trainway.data.flight.worker import Worker
from trainway.errors import TrainwayError, UnavailableError

_LOG: Final = logging.getLogger("trainway.cache")
_LOOK_S: Final = 0.5
_PAUSES_S: Final = (1, 2, 4, 8, 15, 30)


def main(words: Sequence[str] | None = None, environment: Mapping[str, str] | None = None) -> int:
    """Serve until a signal; the exit status."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    try:
        settings = parse(sys.argv[1:] if words is None else words, environment or os.environ)
        with Process(settings, ended) as process:
            process.wait()
    except TrainwayError as error:
        _LOG.error("%s", error.sentence)
        return error.exit_code
    return 0


class Process:
    """All that runs in one process of a cache, while it is open."""

    def __init__(self, settings: Settings, ended: threading.Event) -> None:
        self._settings = settings
        self._ended = ended
        self._closers: list[Callable[[], object]] = []
        self._head: Head | None = None
        self._worker: Worker | None = None

    def __enter__(self) -> Self:
        settings = self._settings
        try:
            address = (settings.host, settings.health_port)
            health = Health(address, self._missing, self._figures)
        except OSError as error:
            raise UnavailableError(
                f"port {settings.health_port} cannot be used for /ready: {error.strerror}",
                hint="set --health-port",
            ) from None
        self._closers.append(health.close)
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for close in reversed(self._closers):
            close()
        self._closers.clear()

    def wait(self) -> None:
        """Until a signal; an error that nobody can mend by waiting ends it too."""
        was_ready = False
        while not self._ended.wait(_LOOK_S):
            missing = self._missing()
            if was_ready == bool(missing):
                self._tell(missing)
            was_ready = not missing
            fatal = self._head.fatal() if self._head else ""
            if fatal:
                raise TrainwayError(f"the table cannot be loaded: {fatal}")

    def _start(self) -> None:
        settings, rooms = self._settings, Rooms()
        if settings.role == HEAD:
            planned = _planned(settings.table, self._ended)
            self._head = rooms.head = Head(
                planned, max(1, settings.workers), time.monotonic, settings.patience_s
            )
            _LOG.info("%s has %d files", planned.table, len(planned.files))
        try:
            service = Service(settings.location, rooms, settings.token)
        except (pa.ArrowException, OSError) as error:
            raise UnavailableError(f"cannot listen at {settings.location}: {error}") from None
        self._closers.append(service.shutdown)
        if settings.role != HEAD or not settings.workers:
            address = f"{settings.advertised}:{service.port}"
            join = Connection(settings.head, settings.token).join
            if self._head is not None:
                join = self._head.join
            self._worker = Worker(settings.name, address, settings.folder, join)
            rooms.worker = self._worker
            self._worker.start()
            self._closers.append(self._worker.stop)
        _LOG.info(LISTENS, settings.role, settings.advertised, service.port)

    def _tell(self, missing: str) -> None:
        """Say in the log that it can be read now, or no more."""
        told = self._figures()
        if missing:
            _LOG.info(NOT_READY, missing)
        elif told is None:
            _LOG.info("ready")
        else:
            _LOG.info(READY, told["files"], told["bytes"], told["rows"] or 0)

    def _figures(self) -> dict[str, Any] | None:
        return self._head.figures() if self._head is not None else None

    def _missing(self) -> str:
        parts = [each for each in (self._head, self._worker) if each is not None]
        if not parts:
            return "it is starting"
        return next(filter(None, (each.missing() for each in parts)), "")


def _planned(table: str, ended: threading.Event) -> Plan:
    """The table's files; a place that does not answer is asked again."""
    for pause in (*_PAUSES_S, None):
        try:
            return plan(table)
        except UnavailableError as error:
            if pause is None or ended.wait(pause):
                raise
            _LOG.warning("%s; asked again in %d s", error.sentence, pause)
    raise AssertionError("the last pause is None")
