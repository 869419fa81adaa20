"""What the Kubernetes backend knows of its cluster apart from jobs: where it is, nodes, queues."""

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from trainway.backends import configuration
from trainway.backends.agents.agent_backend import now
from trainway.backends.agents.spool import SpoolBackend
from trainway.backends.avoided_nodes import AvoidedNodes
from trainway.backends.base import BackendSettings, Handle, Update
from trainway.backends.claims import Claim
from trainway.backends.kubernetes import section, sites
from trainway.backends.kubernetes.cluster_module import cluster_module
from trainway.backends.kubernetes.sites import Infra
from trainway.backends.nodes import Drain, Node
from trainway.backends.queues import Queue, QueueState
from trainway.errors import TrainwayError, UsageError

if TYPE_CHECKING:
    from trainway.backends.kubernetes.cluster import KubernetesCluster

_LIST_S: Final = 5.0
"""How long listing the nodes may take where a job can be sent without."""


class SiteBackend(SpoolBackend):
    """A context of a kubeconfig, and what there is besides jobs."""

    def __init__(self, settings: BackendSettings, environ: Mapping[str, str] = os.environ) -> None:
        self._settings = settings
        self._environ = environ
        self._clusters: dict[tuple[tuple[str, ...], str], KubernetesCluster] = {}

    @property
    def name(self) -> str:
        """`k8s/CONTEXT/NAMESPACE`, as far as it was given."""
        return f"{sites.FAMILY}/{self._settings.target}".rstrip("/")

    def places(self) -> list[str]:
        """One for each context of the kubeconfig; the family's name where it cannot be read."""
        try:
            return sites.places(self._files(), self._environ)
        except TrainwayError:
            return [sites.FAMILY]

    def api_requests(self) -> list[tuple[str, Mapping[tuple[str, str], int]]]:
        """What the API servers have answered."""
        found = [cluster.answers() for cluster in self._clusters.values()]
        return [answers for answers in found if answers is not None]

    def initializer_images(self) -> Mapping[str, str]:
        """The images of initializers that `config.yaml` names."""
        said = configuration.read(self._settings.home).get(section.NAME) or {}
        return section.initializer_images(said)

    async def close(self) -> None:
        """Let go of all clusters."""
        for cluster in self._clusters.values():
            await cluster.close()
        self._clusters.clear()

    async def nodes(self) -> list[Node]:
        """The nodes of the cluster."""
        infra = self._infra()
        found = await self._cluster(infra.kubeconfig, infra.context).nodes()
        return self._avoided(infra.context).marked(found)

    async def drain(self, node: str, drain: Drain) -> None:
        """Cordon a node, which has no field for why, by whom and until when."""
        if drain.until is not None:
            raise UsageError(
                f"a node of {self.name} cannot be set aside for a time only",
                hint="leave out --for, and undrain it when it is time",
            )
        await self._cordon(node, is_cordoned=True)

    async def undrain(self, node: str) -> None:
        """Avoid it no longer, and uncordon it if it is cordoned: only that needs a right."""
        if self._avoided(self._infra().context).remove(node):
            try:
                is_cordoned = any(each.drained for each in await self.nodes() if each.name == node)
            except TrainwayError:
                return  # that it is avoided was ours alone
            if not is_cordoned:
                return
        await self._cordon(node, is_cordoned=False)

    def _avoided(self, context: str) -> AvoidedNodes:
        """The nodes of a cluster that our jobs are kept off."""
        return AvoidedNodes(self._settings.home, f"{sites.FAMILY}/{context}", now)

    async def _note_sick(self, handle: Handle, update: Update) -> None:
        """Keep jobs off the nodes that failed a health check of this one."""

        async def listed() -> list[Node]:
            async with asyncio.timeout(_LIST_S):
                return await self._of(handle).nodes()

        avoided = self._avoided(str(handle["context"]))
        await avoided.note_all(update.records, str(handle["id"]), listed)

    async def _forget_gone(self, infra: Infra) -> None:
        """Avoid no nodes that the cluster has not any more; those of clouds come and go."""
        avoided = self._avoided(infra.context)
        if avoided.is_empty:
            return
        with suppress(TrainwayError, TimeoutError):  # not everybody may list them
            async with asyncio.timeout(_LIST_S):
                found = await self._cluster(infra.kubeconfig, infra.context).nodes()
            if found:
                avoided.keep({node.name for node in found})

    async def _cordon(self, node: str, *, is_cordoned: bool) -> None:
        from trainway.backends.kubernetes.cordon import cordon  # noqa: PLC0415 - needs the extra

        infra = self._infra()
        client = await self._cluster(infra.kubeconfig, infra.context).client()
        await cordon(client, infra.context, node, is_cordoned=is_cordoned)

    async def queues(self) -> list[Queue]:
        """The LocalQueues of the namespace."""
        from trainway.backends.kubernetes.api_failure import worded  # noqa: PLC0415 - see above
        from trainway.backends.kubernetes.queues import read_queues  # noqa: PLC0415 - as above

        infra = self._infra()
        client = await self._cluster(infra.kubeconfig, infra.context).client()
        with worded(infra.context):
            return await read_queues(client, infra.place)

    async def queue_states(self) -> list[QueueState]:
        """The same with all Workloads that wait in them."""
        from trainway.backends.kubernetes.api_failure import worded  # noqa: PLC0415 - see above
        from trainway.backends.kubernetes.queue_states import read_states  # noqa: PLC0415 - as above

        infra = self._infra()
        client = await self._cluster(infra.kubeconfig, infra.context).client()
        with worded(infra.context):
            return await read_states(client, infra.place)

    async def make_claim(self, claim: Claim) -> None:
        """Have a claim in the namespace that it names, or in that of this place."""
        from trainway.backends.kubernetes.claims import make  # noqa: PLC0415 - see above

        infra = self._infra()
        client = await self._cluster(infra.kubeconfig, infra.context).client()
        await make(client, infra.context, infra.namespace_for(claim.namespace), claim)

    async def remove_claim(self, claim: Claim) -> None:
        """Remove a claim that was made here."""
        from trainway.backends.kubernetes.claims import remove  # noqa: PLC0415 - see above

        infra = self._infra()
        client = await self._cluster(infra.kubeconfig, infra.context).client()
        await remove(client, infra.context, infra.namespace_for(claim.namespace), claim)

    def _files(self) -> tuple[str, ...]:
        return sites.files_of(self._settings.kubeconfig, self._environ)

    def _infra(self) -> Infra:
        return sites.resolve(self._settings.target, self._files(), self._environ)

    def _of(self, handle: Handle) -> "KubernetesCluster":
        """The cluster that a job was given to, whatever the current context is now."""
        return self._cluster(tuple(handle.get("kubeconfig") or ()), str(handle["context"]))

    def _cluster(self, files: tuple[str, ...], context: str) -> "KubernetesCluster":
        if (files, context) not in self._clusters:
            self._clusters[files, context] = cluster_module().KubernetesCluster(files, context)
        return self._clusters[files, context]
