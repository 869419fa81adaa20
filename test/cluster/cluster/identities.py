"""Who may talk to the API server: static tokens, and the kubeconfig files that carry them."""

import base64
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CONTEXT: Final = "trainway"


@dataclass(frozen=True)
class User:
    """A user of the cluster with the token that proves it."""

    name: str
    groups: tuple[str, ...] = ()
    token: str = ""


def with_token(user: User) -> User:
    """The user with a new token."""
    return User(user.name, user.groups, secrets.token_urlsafe(24))


def write_token_file(path: Path, users: Sequence[User]) -> None:
    """The file of `--token-auth-file`."""
    rows = [f'{user.token},{user.name},{user.name},"{",".join(user.groups)}"\n' for user in users]
    path.touch(mode=0o600)
    path.write_text("".join(rows))


def write_kubeconfig(path: Path, server: str, authority: Path, token: str) -> None:
    """A kubeconfig with one context; JSON, which is YAML too."""
    bundle = base64.b64encode(authority.read_bytes()).decode()
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": CONTEXT,
                "cluster": {"server": server, "certificate-authority-data": bundle},
            }
        ],
        "users": [{"name": CONTEXT, "user": {"token": token}}],
        "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": CONTEXT}}],
        "current-context": CONTEXT,
    }
    path.touch(mode=0o600)
    path.write_text(json.dumps(content, indent=2))
