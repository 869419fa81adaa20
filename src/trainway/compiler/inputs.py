"""What is compiled: one object, and where it was read from."""

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
Key = tuple[str, str, str, str]
"""What no two objects share: apiVersion, kind, namespace and name."""


@dataclass(frozen=True)
class Input:
    """One object, and where it was read from."""

    data: Json
    source: str

    @property
    def type(self) -> tuple[str, str]:
        """Its apiVersion and kind."""
        return str(self.data.get("apiVersion", "")), str(self.data.get("kind", ""))

    @property
    def name(self) -> str:
        """The object's name; empty where it has none."""
        return str(self._metadata.get("name", ""))

    @property
    def key(self) -> Key:
        """What makes the object the one it is."""
        return (*self.type, str(self._metadata.get("namespace", "")), self.name)

    @property
    def _metadata(self) -> Json:
        metadata = self.data.get("metadata")
        return metadata if isinstance(metadata, dict) else {}
