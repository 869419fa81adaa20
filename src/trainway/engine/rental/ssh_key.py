"""The key that leads to rented machines: this server's own, made when it first rents any."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDER: Final = "clouds"
_PRIVATE: Final = 0o600


@dataclass(frozen=True)
class SshKey:
    """The key of a server, and where hosts are remembered."""

    public: str
    identity: str
    """The path of the private part."""
    folder: str
    """The folder of what is remembered of hosts."""


def ssh_key(home: Path) -> SshKey:
    """The key of the server with that home directory; it is made if there is none."""
    folder = home / FOLDER
    private = folder / "id_ed25519"
    if not private.exists():
        _make(folder, private)
    public = private.with_suffix(".pub").read_text("ascii").strip()
    return SshKey(public, str(private), str(folder))


def _make(folder: Path, private: Path) -> None:
    """Write both parts, the one that counts last."""
    public, secret = new_pair()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write(private.with_suffix(".pub"), public + b" trainway\n")
    write(private, secret)


def new_pair() -> tuple[bytes, bytes]:
    """A new key as OpenSSH has it: the public half in a line, and the private one."""
    from cryptography.hazmat.primitives import serialization as form  # noqa: PLC0415 - slow, seldom needed
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - as above

    key = Ed25519PrivateKey.generate()
    public = key.public_key().public_bytes(form.Encoding.OpenSSH, form.PublicFormat.OpenSSH)
    secret = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.OpenSSH, form.NoEncryption())
    return public, secret


def write(path: Path, data: bytes) -> None:
    """Whole, or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _PRIVATE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
