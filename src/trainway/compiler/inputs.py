"""What is compiled: one object, and where it was read from."""

from collections.abc import Callable
from dataclasses import dataclass, field

from trainway.api.document import Place, Places
from trainway.json_types import Json
from trainway.schema.field import FieldError

Key = tuple[str, str, str, str]
"""What no two objects share: apiVersion, kind, namespace and name."""


@dataclass(frozen=True)
class Input:
    """One object, and where it was read from."""

    data: Json
    source: str
    group: str = ""
    """What was read together: a folder, else the source itself."""
    places: Callable[[], Places] | None = field(default=None, compare=False, repr=False)
    """Where its fields stand in the source; found out when something is wrong."""

    @property
    def type(self) -> tuple[str, str]:
        """Its apiVersion and kind."""
        return str(self.data.get("apiVersion", "")), str(self.data.get("kind", ""))

    @property
    def name(self) -> str:
        """The object's name; empty where it has none."""
        return str(self._metadata.get("name", ""))

    @property
    def label(self) -> str:
        """How it is called in messages: its name, or the beginning of the one it will get."""
        return self.name or str(self._metadata.get("generateName") or "")

    def place(self, reason: object) -> Place | None:
        """Where in the source an error is, as far as that is known."""
        if self.places is None or not isinstance(reason, FieldError):
            return None
        return self.places().of(reason)

    @property
    def key(self) -> Key:
        """What makes the object the one it is."""
        return (*self.type, str(self._metadata.get("namespace", "")), self.name)

    @property
    def _metadata(self) -> Json:
        metadata = self.data.get("metadata")
        return metadata if isinstance(metadata, dict) else {}
