"""What a command says that is ended by a signal while its job goes on elsewhere.

A job runs with the server and not with the command that shows it, so whoever kills the command, or
closes its terminal, has to be told that the job is still there.
"""

import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, Final, Self

_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP)
_SIGNALLED: Final = 128


class SignalledError(BaseException):
    """A signal that ends the command; nothing but `Leaving` handles it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = _SIGNALLED + number


class Leaving:
    """While it is entered, SIGTERM and SIGHUP end what is done, after a last word.

    A signal that was ignored before, as nohup does it, stays ignored.
    """

    def __init__(self, say: Callable[[], None]) -> None:
        self._say = say
        self._former: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._former[number] = signal.signal(number, _raise)
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        for number, handler in self._former.items():
            signal.signal(number, signal.SIG_IGN if isinstance(error, SignalledError) else handler)
        if isinstance(error, SignalledError):
            with suppress(OSError):  # the terminal may be gone
                self._say()
            raise SystemExit(error.exit_code) from None


def _raise(number: int, _frame: FrameType | None) -> None:
    raise SignalledError(number)
