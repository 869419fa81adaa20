"""The objects an informer knows, by key and by index.

Objects are kept as JSON text, a tenth of what their dicts would take, and read anew each time
somebody asks: nobody can change what others see.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import orjson

from trainway.json_types import Json

Indexer = Callable[[Json], Iterable[str]]


def object_key(obj: Mapping[str, Any]) -> str:
    """`namespace/name`, or `name` where there is no namespace."""
    metadata = obj["metadata"]
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])


def split_key(key: str) -> tuple[str, str]:
    """Namespace and name of a key; a namespace may be empty."""
    namespace, _, name = key.rpartition("/")
    return namespace, name


class _Index:
    """Which keys have a value."""

    __slots__ = ("_keys", "_values", "of")

    def __init__(self, of: Indexer) -> None:
        self.of = of
        self._keys: dict[str, dict[str, None]] = {}
        self._values: dict[str, tuple[str, ...]] = {}

    def put(self, key: str, obj: Json) -> None:
        values = tuple(dict.fromkeys(self.of(obj)))
        if values == self._values.get(key, ()):
            return
        self.remove(key)
        if values:
            self._values[key] = values
        for value in values:
            self._keys.setdefault(value, {})[key] = None

    def remove(self, key: str) -> None:
        for value in self._values.pop(key, ()):
            keys = self._keys[value]
            del keys[key]
            if not keys:
                del self._keys[value]

    def keys(self, value: str) -> list[str]:
        return list(self._keys.get(value, ()))


class Store:
    """Objects by key, with indexes. Gives a new dict for each question."""

    def __init__(self, indexers: Mapping[str, Indexer] | None = None) -> None:
        self._texts: dict[str, bytes] = {}
        self._indexes: dict[str, _Index] = {}
        self.add_indexers(indexers or {})

    def __len__(self) -> int:
        return len(self._texts)

    def __contains__(self, key: object) -> bool:
        return key in self._texts

    def get(self, key: str) -> Json | None:
        """The object of a key."""
        text = self._texts.get(key)
        return None if text is None else orjson.loads(text)

    def text(self, key: str) -> bytes | None:
        """The object of a key as JSON."""
        return self._texts.get(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def keys(self) -> list[str]:
        """All keys."""
        return list(self._texts)

    def values(self) -> Iterator[Json]:
        """All objects, one after the other; those that vanish meanwhile are left out."""
        for key in list(self._texts):
            text = self._texts.get(key)
            if text is not None:
                yield orjson.loads(text)

    def by_index(self, index: str, value: str) -> list[Json]:
        """The objects that have a value in an index."""
        return [orjson.loads(self._texts[key]) for key in self._indexes[index].keys(value)]

    def keys_by_index(self, index: str, value: str) -> list[str]:
        """The keys of the objects that have a value in an index."""
        return self._indexes[index].keys(value)

    def add_indexers(self, indexers: Mapping[str, Indexer]) -> None:
        """More indexes, also over the objects that are here; one of a known name is not new."""
        for name, indexer in indexers.items():
            if name in self._indexes:
                continue
            index = self._indexes[name] = _Index(indexer)
            for key, text in self._texts.items():
                index.put(key, orjson.loads(text))

    def put(self, key: str, obj: Json) -> tuple[bytes | None, bool]:
        """Keep an object; gives the text of the one before, and whether anything changed."""
        text, old = orjson.dumps(obj), self._texts.get(key)
        if text == old:
            return old, False
        self._texts[key] = bytes(memoryview(text))  # orjson's own has 16 KB of room
        for index in self._indexes.values():
            index.put(key, obj)
        return old, True

    def remove(self, key: str) -> bytes | None:
        """Forget an object; gives its text."""
        text = self._texts.pop(key, None)
        if text is not None:
            for index in self._indexes.values():
                index.remove(key)
        return text
