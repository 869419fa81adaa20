"""The name under which this server marks what it rents.

It is a file beside the database and not part of it: when a database is lost, its machines can still
be told from those of others, and be swept.
"""

import os
import secrets
from pathlib import Path
from typing import Final

from trainway.errors import UnavailableError, UnreadableError

FILE: Final = "server-id"
_BYTES: Final = 10
_LENGTH: Final = 2 * _BYTES


def server_id(home: Path) -> str:
    """The id of the server of a home directory, made on first use and the same ever after."""
    path = home / FILE
    try:
        if not path.exists():
            _write(path, secrets.token_hex(_BYTES))
        found = path.read_text("ascii", errors="replace").strip()
    except OSError as error:
        raise UnavailableError(f"{path}: {error.strerror}") from error
    if len(found) != _LENGTH or not all(letter in "0123456789abcdef" for letter in found):
        raise UnreadableError(
            f"{path}: this is not the id of a server",
            hint="put back the file as it was: machines that are rented are found by it",
        )
    return found


def _write(path: Path, text: str) -> None:
    """Whole and durable under its name, or not at all; one that is there already stays."""
    draft = path.with_name(f".{path.name}.{text}")  # several clusters may be launched at once
    with draft.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
