"""What a command says beside its answer: what the server left word of, and of a full disk."""

import os
from contextlib import suppress

from trainway.cli.output import echo_line
from trainway.sdk.address import Home
from trainway.sdk.disk import full_disk

_FILE = "notices"
"""The file in which the server leaves notices."""


def show_notices(home: Home, *, is_well: bool) -> None:
    """Print what there is, once; of a disk that is full only where no error has told of it."""
    path = home.path / _FILE
    claimed = path.with_name(f"{_FILE}.{os.getpid()}")
    with suppress(OSError):
        path.rename(claimed)  # of two commands one prints them
        for line in claimed.read_text(errors="replace").splitlines():
            echo_line(f"warning: {line}")
        claimed.unlink()
    full = full_disk(home.path) if is_well else ""
    if full:
        echo_line(f"warning: {full}: nothing can be submitted or changed; free some space there")
