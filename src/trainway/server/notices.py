"""What the owner of a server should be told by the next command: lines in a file beside it.

The command line prints them once and removes the file; see `trainway.cli.notices`.
"""

import os
from pathlib import Path
from typing import Final

FILE: Final = "notices"


def leave_notice(home: Path, text: str) -> None:
    """Add a line."""
    handle = os.open(home / FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        os.write(handle, f"{text}\n".encode())
    finally:
        os.close(handle)
