"""A worker: reports to the head, loads the files that the head gives it, and has them on its shelf.

Reports go on while files are loaded, so the head knows that the worker lives. A file that cannot be
loaded is reported and tried again: a bucket that did not answer may answer later.
"""

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from trainway.data.disk import DiskError
from trainway.data.flight.head import Orders, Report
from trainway.data.flight.plan import Reader
from trainway.data.flight.shelf import Shelf
from trainway.data.flight.table import reader
from trainway.errors import TrainwayError, UnavailableError

BUSY_S: Final = 0.2
IDLE_S: Final = 2.0
_AGAIN_S: Final = 5.0
_LOG: Final = logging.getLogger(__name__)

Join = Callable[[Report], Orders]
"""Sends a report to the head; UnavailableError where there is none."""


class Worker:
    """One worker of a cache."""

    def __init__(self, name: str, address: str, folder: Path, join: Join) -> None:
        self._name = name
        self._address = address
        self._folder = folder
        self._join = join
        self._shelf: Shelf | None = None
        self._reader: Reader | None = None
        self._wanted: frozenset[int] = frozenset()
        self._error = ""
        self._is_final = False
        self._is_connected = True
        self._news = threading.Event()
        self._stopped = threading.Event()
        self._threads = [
            threading.Thread(target=self._report, name="report", daemon=True),
            threading.Thread(target=self._load, name="load", daemon=True),
        ]

    def start(self) -> None:
        """Begin to report and to load."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End both."""
        self._stopped.set()
        self._news.set()
        for thread in self._threads:
            thread.join()

    def shelf(self) -> Shelf:
        """What can be read here."""
        if self._shelf is None:
            raise UnavailableError("the cache is not loaded yet", hint="ask the head again")
        return self._shelf

    def missing(self) -> str:
        """Why this worker cannot be read; nothing if it can."""
        shelf = self._shelf
        if shelf is None:
            return "the head has not answered yet"
        here = len(self._wanted & shelf.counts().keys())
        if self._error or here < len(self._wanted):
            return self._error or f"{here} of {len(self._wanted)} files are loaded"
        return "" if shelf.is_placed() else "the other workers are loading"

    def step(self) -> float:
        """Report once, and follow the orders; the seconds until the next time."""
        shelf = self._shelf
        report = Report(
            self._name,
            self._address,
            shelf.plan.version if shelf else "",
            shelf.counts() if shelf else {},
            shelf.is_placed() if shelf else False,
            self._error,
            self._is_final,
        )
        try:
            orders = self._join(report)
        except UnavailableError as error:
            if self._is_connected:
                _LOG.warning("%s", error.sentence)
            self._is_connected = False
            return IDLE_S if self._shelf else BUSY_S
        if not self._is_connected:
            _LOG.info("the head answers")
        self._is_connected = True
        self._follow(orders)
        return IDLE_S if orders.is_ready and not self.missing() else BUSY_S

    def _follow(self, orders: Orders) -> None:
        if orders.plan is not None:
            self._shelf = None
            self._reader = None
            self._shelf = Shelf(self._folder, orders.plan)
        if self._shelf is None:
            return
        if orders.counts is not None:
            self._shelf.place(orders.counts)
        self._wanted = frozenset(orders.files)
        self._news.set()

    def load_next(self) -> bool:
        """Load one file that is missing; False: there is none."""
        shelf = self._shelf
        left = sorted(self._wanted - shelf.counts().keys()) if shelf else []
        if shelf is None or not left:
            return False
        if self._reader is None:
            self._reader = reader(shelf.plan)
        shelf.add(left[0], self._reader)
        self._error, self._is_final = "", False
        return True

    def _report(self) -> None:
        while not self._stopped.is_set():
            pause = BUSY_S
            try:
                pause = self.step()
            except TrainwayError as error:
                self._fail(error)
            self._stopped.wait(pause)

    def _load(self) -> None:
        while not self._stopped.is_set():
            self._news.wait()
            self._news.clear()
            try:
                while not self._stopped.is_set() and self.load_next():
                    pass
            except TrainwayError as error:
                self._fail(error)
                self._stopped.wait(_AGAIN_S)
                self._news.set()
            except Exception as error:  # noqa: BLE001 - a thread that ends would be silent
                _LOG.exception("a file cannot be loaded")
                self._error = f"{type(error).__name__}: {error}"
                self._stopped.wait(_AGAIN_S)
                self._news.set()

    def _fail(self, error: TrainwayError) -> None:
        if error.sentence != self._error:
            _LOG.error("%s", error.sentence)
        self._error = error.sentence
        self._is_final = not isinstance(error, UnavailableError | DiskError)
