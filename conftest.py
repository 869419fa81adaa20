"""What all tests share.

A shell that starts something in the background lets it ignore SIGINT, and everything below inherits
that. Tests interrupt themselves and the processes they start, so they must hear it.
"""

import signal


def pytest_configure() -> None:
    """Undo what a shell may have set."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
