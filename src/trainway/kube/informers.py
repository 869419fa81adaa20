"""One informer for each resource, shared by all who need it."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence

from trainway.kube.client import Client
from trainway.kube.informer import Informer, Keep
from trainway.kube.reflector import SILENCE_S
from trainway.kube.resources import Resource
from trainway.kube.store import Indexer


class Informers:
    """Makes informers on demand; all are made before `run`."""

    def __init__(
        self, client: Client, namespaces: Sequence[str] = (), silence_seconds: float = SILENCE_S
    ) -> None:
        self._client = client
        self._namespaces = namespaces
        self._silence_seconds = silence_seconds
        self._informers: dict[Resource, Informer] = {}
        self._is_running = False

    def __iter__(self) -> Iterator[Informer]:
        return iter(self._informers.values())

    def of(
        self,
        resource: Resource,
        *,
        keep: Keep | None = None,
        indexers: Mapping[str, Indexer] | None = None,
        label_selector: str = "",
        field_selector: str = "",
        metadata_only: bool = False,
    ) -> Informer:
        """The informer of a resource; who asks later may only add indexes."""
        informer = self._informers.get(resource)
        if informer is not None:
            informer.store.add_indexers(indexers or {})
            return informer
        if self._is_running:
            raise RuntimeError(f"the informer of {resource} comes too late")
        informer = self._informers[resource] = Informer(
            self._client,
            resource,
            namespaces=self._namespaces,
            label_selector=label_selector,
            field_selector=field_selector,
            metadata_only=metadata_only,
            keep=keep,
            indexers=indexers,
            silence_seconds=self._silence_seconds,
        )
        return informer

    def age(self) -> float:
        """Seconds since the most silent watch last said something."""
        return max((informer.age() for informer in self), default=0.0)

    async def synced(self) -> None:
        """Wait until all have listed everything once."""
        for informer in self:
            await informer.synced()

    async def run(self) -> None:
        """Run all until cancelled."""
        self._is_running = True
        async with asyncio.TaskGroup() as tasks:
            for informer in self:
                tasks.create_task(informer.run(), name=f"informer {informer.resource}")
