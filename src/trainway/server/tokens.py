"""The token of a server that listens over TCP. Only its digest is kept."""

import hashlib
import re
import secrets
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from trainway.errors import TrainwayError

_HASH: Final = re.compile(r"sha256:([0-9a-f]{64})")


class TokenFileError(TrainwayError):
    """The file that should hold the token does not."""

    code = "token"


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine alone."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def digest(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def read_token_file(path: Path) -> str:
    """The digest of the token in a file, which holds it or `sha256:` and its digest."""
    try:
        text = path.read_text().strip()
    except OSError as error:
        raise TokenFileError(f"{path}: {error.strerror}") from None
    if not text:
        raise TokenFileError(f"{path} is empty", hint="put a long random text into it")
    match = _HASH.fullmatch(text)
    return match[1] if match else digest(text)


def new_token(path: Path) -> str:
    """Make a token and keep its digest in a file; the token itself is kept nowhere."""
    token = secrets.token_urlsafe(32)
    path.touch(mode=0o600)
    path.write_text(f"sha256:{digest(token)}\n")
    return token
