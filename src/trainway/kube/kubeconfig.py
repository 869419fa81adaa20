"""Kubeconfig files: several are merged as kubectl merges them, and one context is chosen.

Plain credentials are read here and not with kubernetes_asyncio, because its import takes 40 MB;
`credentials` asks it where a kubeconfig names an authentication provider that only it knows.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from trainway.errors import UnreadableError
from trainway.json_types import Json


class KubeconfigError(UnreadableError):
    """A kubeconfig that cannot be used."""

    code = "kubeconfig"


@dataclass(frozen=True, slots=True)
class Section:
    """A named cluster, user or context, and the folder its relative paths start from."""

    name: str
    folder: Path
    fields: Mapping[str, Any]

    def text(self, field: str) -> str:
        """The text of a field; empty: there is none."""
        value = self.fields.get(field)
        return value if isinstance(value, str) else ""

    def path(self, field: str) -> Path | None:
        """The file a field names."""
        value = self.text(field)
        return self.folder / value if value else None

    def content(self, field: str) -> bytes | None:
        """What a field holds: as base64 in `<field>-data`, or in the file it names."""
        data, path = self.text(f"{field}-data"), self.path(field)
        if data:
            try:
                return base64.b64decode(data, validate=True)
            except binascii.Error:
                raise KubeconfigError(f"{self.name}: {field}-data is not base64") from None
        return None if path is None else read_file(path)


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """The chosen context with its cluster and its user."""

    context: Section
    cluster: Section
    user: Section


def load(paths: Iterable[Path], context: str | None = None) -> Kubeconfig:
    """Read the files that exist; of two entries of one name the first counts."""
    found = [path for path in paths if is_there(path)]
    documents = [(path.parent, _document(path)) for path in found]
    chosen = context or next(
        (name for _, document in documents if (name := document.get("current-context"))), ""
    )
    where = ", ".join(map(str, found))
    if not chosen:
        raise KubeconfigError(f"{where} has no current context", hint="name one with --context")
    selected = _section(documents, "contexts", "context", str(chosen), where)
    cluster = selected.text("cluster")
    user = selected.text("user")
    return Kubeconfig(
        selected,
        _section(documents, "clusters", "cluster", cluster, where),
        _section(documents, "users", "user", user, where) if user else Section("", Path(), {}),
    )


def contexts(paths: Iterable[Path]) -> tuple[list[str], str]:
    """The names of all contexts, and the current one; it may be empty."""
    documents = [_document(path) for path in paths if is_there(path)]
    entries = [entry for document in documents for entry in document.get("contexts") or ()]
    names = [str(entry["name"]) for entry in entries if isinstance(entry, dict) and "name" in entry]
    current = (str(document.get("current-context") or "") for document in documents)
    return list(dict.fromkeys(names)), next((name for name in current if name), "")


def is_there(path: Path) -> bool:
    """Whether there is a file; a KubeconfigError where nobody can say."""
    try:
        return path.is_file()
    except OSError as error:  # such as a folder of somebody else
        raise KubeconfigError(f"cannot read {str(path)[:200]}: {error.strerror}") from None


def read_file(path: Path) -> bytes:
    """The content of a file that a kubeconfig names."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise KubeconfigError(f"cannot read {path}: {error.strerror}") from None


def _document(path: Path) -> Json:
    try:
        document = yaml.safe_load(read_file(path))
    except yaml.YAMLError:
        raise KubeconfigError(f"{path} is not YAML") from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise KubeconfigError(f"{path} is not a kubeconfig")
    return document


def _section(
    documents: Iterable[tuple[Path, Json]], plural: str, singular: str, name: str, where: str
) -> Section:
    for folder, document in documents:
        for entry in document.get(plural) or ():
            if isinstance(entry, dict) and entry.get("name") == name:
                return Section(name, folder, entry.get(singular) or {})
    raise KubeconfigError(f"no {singular} {name!r} in {where}")
