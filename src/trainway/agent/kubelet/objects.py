"""The ConfigMaps and Secrets of a plan, by name."""

from __future__ import annotations

import binascii

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainway.json_types import Json


class MissingError(Exception):
    """A pod refers to something that is not there. The message is for the user."""


class Objects:
    """Finds ConfigMaps and Secrets and reads their data as bytes."""

    def __init__(self, objects: Iterable[Json]) -> None:
        self._data: dict[tuple[str, str], dict[str, bytes]] = {}
        self._files: dict[tuple[str, str], dict[str, str]] = {}
        for item in objects:
            name = str((item.get("metadata") or {}).get("name", ""))
            self._data[str(item.get("kind")), name] = _read(item)
            self._files[str(item.get("kind")), name] = _files(item)

    def data(self, kind: str, name: str, *, optional: bool = False) -> dict[str, bytes]:
        """All keys of an object; none where it is missing and may be."""
        found = self._data.get((kind, name))
        if found is None:
            if optional:
                return {}
            raise MissingError(f'{kind.lower()} "{name}" not found')
        return found

    def files(self, kind: str, name: str) -> dict[str, str]:
        """The keys of an object whose values are files of the job, by their digests."""
        return self._files.get((kind, name)) or {}

    def value(self, kind: str, ref: Json) -> bytes | None:
        """The value that a reference names; None where it is missing and may be."""
        name, key = str(ref.get("name", "")), str(ref.get("key", ""))
        optional = bool(ref.get("optional"))
        value = self.data(kind, name, optional=optional).get(key)
        if value is None and not optional:
            raise MissingError(f"couldn't find key {key} in {kind} {name}")
        return value


def _read(item: Json) -> dict[str, bytes]:
    """The data of an object: in a ConfigMap `data` is text, in a Secret it is Base64."""
    encoded = "data" if item.get("kind") == "Secret" else "binaryData"
    plain = "stringData" if item.get("kind") == "Secret" else "data"
    data = {
        str(key): binascii.a2b_base64(value or "")
        for key, value in (item.get(encoded) or {}).items()
        if not isinstance(value, dict)
    }
    for key, value in (item.get(plain) or {}).items():
        data[str(key)] = str(value).encode("utf-8", "surrogateescape")
    return data


def _files(item: Json) -> dict[str, str]:
    """What of an object is too large to be read here."""
    values = (item.get("binaryData") or {}).items()
    return {str(key): str(value["$file"]) for key, value in values if isinstance(value, dict)}
