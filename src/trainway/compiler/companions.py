"""Secrets and ConfigMaps that a job brings along, as literal objects."""

from collections.abc import Mapping
from typing import Any

from trainway.compiler.keys import SshKeypair, secret_value


def secret(metadata: Mapping[str, Any], texts: Mapping[str, str], kind: str = "") -> dict[str, Any]:
    """A Secret of texts."""
    data = {key: secret_value(text) for key, text in texts.items()}
    head = {"apiVersion": "v1", "kind": "Secret", "metadata": dict(metadata)}
    return head | ({"type": kind} if kind else {}) | {"data": data}


def ssh_secret(metadata: Mapping[str, Any], keys: SshKeypair) -> dict[str, Any]:
    """The Secret that holds an SSH key pair."""
    texts = {"ssh-privatekey": keys.private_key, "ssh-publickey": keys.public_key}
    return secret(metadata, texts, "kubernetes.io/ssh-auth")


def config_map(metadata: Mapping[str, Any], data: Mapping[str, str]) -> dict[str, Any]:
    """A ConfigMap of texts."""
    head = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": dict(metadata)}
    return head | {"data": dict(data)}
