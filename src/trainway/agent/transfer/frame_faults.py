"""What is wrong with a frame that could not be handled, in the words of its answer.

A frame comes from a program that may have another version, so whatever is missing or malformed in
it is answered, and never ends the program that reads it.
"""

from __future__ import annotations

import binascii


def fault_of(error: Exception) -> str:
    """A sentence for whoever sent the frame."""
    if isinstance(error, OSError):
        return f"{error.strerror}: {error.filename}" if error.filename else str(error)
    if isinstance(error, KeyError):
        return f"{error} is missing"
    if isinstance(error, binascii.Error):
        return f"not Base64: {error}"
    return str(error)
