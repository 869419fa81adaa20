"""The token that everybody needs who comes over TCP.

It is kept in a file that only its owner can read, so that the owner's own command line finds it.
Whoever replaces the file replaces the token, at once, also for a server that runs.
"""

import hashlib
import hmac
import logging
import os
import re
import secrets
from pathlib import Path
from typing import Final

from trainway.errors import TrainwayError

log = logging.getLogger(__name__)

_HASH: Final = re.compile(r"sha256:([0-9a-f]{64})")
_LONGEST: Final = 4096
_PRIVATE: Final = 0o600


class TokenFileError(TrainwayError):
    """The file that should hold the token does not."""

    code = "token"


def digest(token: str) -> str:
    """What tokens are compared by."""
    return hashlib.sha256(token.encode(errors="surrogateescape")).hexdigest()


class TokenFile:
    """A file with the token, or with `sha256:` and its digest in hexadecimal digits."""

    def __init__(self, path: Path, *, is_given: bool = False) -> None:
        self.path = path
        self.is_given = is_given
        """Whether its owner named it, and so looks after it."""
        self._version: tuple[int, int, int] | None = None
        self._digest = ""
        """The digest of the token in that version of the file; it is empty if nobody has
        the token."""

    def check(self) -> None:
        """Raise TokenFileError if there is no token in the file."""
        read_digest(self.path)

    def accepts(self, token: str) -> bool:
        """Whether it is the token that the file holds now."""
        self._look_again()
        return bool(self._digest) and hmac.compare_digest(digest(token), self._digest)

    def current_digest(self) -> str:
        """The digest of the token that the file holds now; empty: nobody has the token."""
        self._look_again()
        return self._digest

    def _look_again(self) -> None:
        """Read the file if it has changed; while it cannot be read, nobody has the token."""
        version = _version(self.path)
        if version is not None and version == self._version:
            return
        self._version = version
        try:
            self._digest = read_digest(self.path)
        except TokenFileError as error:
            if self._digest:
                log.error("TCP connections are refused: %s", error.message)
            self._digest = ""


def read_digest(path: Path) -> str:
    """The digest of the token in a file."""
    try:
        with path.open("rb") as file:
            text = file.read(_LONGEST).decode("ascii").strip()
    except OSError as error:
        raise TokenFileError(f"{path}: {error.strerror}") from None
    except ValueError:
        raise TokenFileError(f"{path} does not contain a token") from None
    if not text:
        raise TokenFileError(f"{path} is empty", hint="put a long random text into it")
    match = _HASH.fullmatch(text)
    return match[1] if match else digest(text)


def write_new_token(path: Path) -> str:
    """Make a token and put it into the file, in place of the one before."""
    token = secrets.token_urlsafe(32)
    draft = path.with_name(f".{path.name}.new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PRIVATE)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(token + "\n")
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:  # which names no file, where it is a disk that is full
        draft.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error
    return token


def _version(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
