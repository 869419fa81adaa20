"""A copy of the objects of a resource that keeps itself up to date, and tells what changed.

Controllers read from it instead of asking the API server, and are woken by its changes.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import orjson

from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.reflector import SILENCE_S, Reflector
from trainway.kube.requests import Selection
from trainway.kube.resources import Resource
from trainway.kube.store import Indexer, Store, object_key

logger = logging.getLogger(__name__)

Keep = Callable[[Json], Json | None]
Kind = Literal["added", "updated", "deleted"]


class Change:
    """What happened to an object, as far as the informer keeps it."""

    __slots__ = ("_old", "_old_text", "key", "kind", "new")

    def __init__(self, kind: Kind, key: str, new: Json | None, old: bytes | None = None) -> None:
        self.kind = kind
        self.key = key
        self.new = new
        """The object as it is now; None if it is gone."""
        self._old_text = old
        self._old: Json | None = None

    @property
    def old(self) -> Json | None:
        """As it was last; None: there was none."""
        if self._old is None and self._old_text is not None:
            self._old = orjson.loads(self._old_text)
        return self._old

    @property
    def object(self) -> Json:
        """As it is now, or was last."""
        obj = self.old if self.new is None else self.new
        assert obj is not None  # noqa: S101 - one of both is always there
        return obj

    def __repr__(self) -> str:
        return f"Change({self.kind} {self.key})"


Handler = Callable[[Change], None]


class Informer:
    """Watches a resource in all namespaces, or in some."""

    def __init__(  # noqa: PLR0913 - independent choices, all with a default
        self,
        client: Client,
        resource: Resource,
        *,
        namespaces: Sequence[str] = (),
        label_selector: str = "",
        field_selector: str = "",
        metadata_only: bool = False,
        keep: Keep | None = None,
        indexers: Mapping[str, Indexer] | None = None,
        silence_seconds: float = SILENCE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.resource = resource
        self.store = Store(indexers)
        self._keep = keep
        self._handlers: list[Handler] = []
        scopes = list(namespaces) if namespaces and resource.namespaced else [""]
        self._reflectors = [
            Reflector(
                client,
                resource,
                self,
                namespace=namespace,
                selection=Selection(label_selector, field_selector, metadata_only),
                silence_seconds=silence_seconds,
                clock=clock,
            )
            for namespace in dict.fromkeys(scopes)
        ]

    @property
    def has_synced(self) -> bool:
        """Whether everything was listed once."""
        return all(reflector.is_synced.is_set() for reflector in self._reflectors)

    @property
    def refusal(self) -> str:
        """What the API server says while it forbids us to list or watch; empty: it does not."""
        return next((each.refusal for each in self._reflectors if each.refusal), "")

    @property
    def lists(self) -> int:
        """How often everything was listed."""
        return max(reflector.lists for reflector in self._reflectors)

    def age(self) -> float:
        """Seconds since the API server last said something."""
        return max(reflector.age() for reflector in self._reflectors)

    def add_handler(self, handler: Handler) -> None:
        """Call it with every change, in order; objects known already come as added."""
        self._handlers.append(handler)
        for key in list(self.store):
            self._tell(handler, Change("added", key, self.store.get(key)))

    async def synced(self) -> None:
        """Wait until everything was listed once."""
        for reflector in self._reflectors:
            await reflector.is_synced.wait()

    async def run(self) -> None:
        """List and watch until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for reflector in self._reflectors:
                tasks.create_task(reflector.run())

    def put(self, obj: Json) -> None:
        """Called by the reflector: an object that is there."""
        key = object_key(obj)
        kept = self._kept(obj)
        if kept is None:
            self._forget(key)
            return
        old, has_changed = self.store.put(key, kept)
        if has_changed:
            self._announce(Change("added" if old is None else "updated", key, kept, old))

    def remove(self, obj: Json) -> None:
        """Called by the reflector: an object that is gone."""
        self._forget(object_key(obj))

    def retain(self, namespace: str, keys: set[str]) -> None:
        """Called by the reflector after a list: what is not in it is gone."""
        prefix = f"{namespace}/" if namespace else ""
        for key in list(self.store):
            if key not in keys and key.startswith(prefix):
                self._forget(key)

    def _kept(self, obj: Json) -> Json | None:
        if self._keep is None:
            return obj
        try:
            return self._keep(obj)
        except Exception:
            logger.exception("%s: cannot keep %s", self.resource, object_key(obj))
            return None

    def _forget(self, key: str) -> None:
        old = self.store.remove(key)
        if old is not None:
            self._announce(Change("deleted", key, None, old))

    def _announce(self, change: Change) -> None:
        for handler in self._handlers:
            self._tell(handler, change)

    def _tell(self, handler: Handler, change: Change) -> None:
        try:
            handler(change)
        except Exception:
            logger.exception("%s: a handler failed for %r", self.resource, change)
