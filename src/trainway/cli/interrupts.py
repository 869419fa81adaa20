"""Ctrl-C, heard only where it can be answered.

Python would raise KeyboardInterrupt wherever the program happens to be: also in the middle of
answering the last one, and then a command would end and leave its job running unasked.
"""

import signal
import threading
from collections.abc import Callable
from typing import Any, Self, TypeVar

T = TypeVar("T")


class Interrupts:
    """While it is entered, Ctrl-C waits for the next `hear`."""

    def __init__(self) -> None:
        self._hears = False
        self._is_pending = False
        self._former: Any = None

    def __enter__(self) -> Self:
        is_ours = threading.current_thread() is threading.main_thread()
        if is_ours and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            self._former = signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        if self._former is not None:
            signal.signal(signal.SIGINT, self._former)

    def hear(self, action: Callable[[], T]) -> T:
        """Do something that Ctrl-C breaks off; one that came before breaks it off at once."""
        self._hears = True
        try:
            if self._is_pending:
                self._is_pending = False
                raise KeyboardInterrupt
            return action()
        finally:
            self._hears = False

    def _on_signal(self, *_: object) -> None:
        if self._hears:
            raise KeyboardInterrupt
        self._is_pending = True
