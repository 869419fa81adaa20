"""Lets `trainway jobs stacks` see where this process is, also where there is no py-spy.

On SIGUSR2 the process writes its stacks into a file in its own memory, which only its user can
open. A handler that somebody else has registered is left alone.
"""

import faulthandler
import fcntl
import os
import signal
import threading
from typing import Final

FILE_NAME: Final = "trainway-stacks"
_SIGNAL: Final = signal.SIGUSR2
_files: Final[list[int]] = []
"""The file, which is open as long as the process lives."""


def register_stacks() -> None:
    """Register the handler, once, and only from the main thread's point of view."""
    if _files or threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(_SIGNAL) is not signal.SIG_DFL:
        return
    file = os.memfd_create(FILE_NAME)
    _files.append(file)
    fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_APPEND)
    faulthandler.register(_SIGNAL, file=file, all_threads=True)
