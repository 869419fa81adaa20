"""The Kubernetes backend: jobs as objects of a cluster that a kubeconfig names.

Nothing of the extra `kubernetes` is imported before a job or `trainway doctor` asks for a cluster.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from typing import TYPE_CHECKING, Final

from trainway.backends import configuration
from trainway.backends.agents.jobdir import JobDir
from trainway.backends.base import (
    Absence,
    BackendSettings,
    Capacity,
    Check,
    Feature,
    Handle,
    Request,
    Update,
    Workload,
)
from trainway.backends.job_threads import job_threads
from trainway.backends.kubernetes import checks, plain_jobs, planning, privileges
from trainway.backends.kubernetes.attachment import attachment, attachments
from trainway.backends.kubernetes.cluster_module import cluster_module
from trainway.backends.kubernetes.form import VARIABLE, Form, Offer, choose
from trainway.backends.kubernetes.planning import KubernetesRequest
from trainway.backends.kubernetes.record_book import RecordBook
from trainway.backends.kubernetes.site_backend import SiteBackend
from trainway.backends.kubernetes.sites import Infra
from trainway.compiler.network import JobIdentity, KubernetesNetwork
from trainway.errors import ForbiddenError, TrainwayError, UnavailableError
from trainway.json_types import Json
from trainway.kube.user_rights import EXEC, LOGS, Right, Task, grant_hint, missing_words

if TYPE_CHECKING:
    from trainway.backends.kubernetes.cluster import KubernetesCluster
    from trainway.backends.kubernetes.departure import Departure
    from trainway.backends.kubernetes.watching import JobWatch

_LOOK_S: Final = 10.0
_LAST_LOOK_S: Final = 60.0
"""How long the output of a job that is suspended may take to come."""

log = logging.getLogger(__name__)


class KubernetesBackend(SiteBackend):
    """Runs each job in a namespace of a cluster."""

    schedules = True
    has_own_nodes: Final = False
    """Others use the cluster too."""
    shares_nodes: Final = True
    """Its scheduler goes by what pods ask for."""

    def __init__(self, settings: BackendSettings, environ: Mapping[str, str] = os.environ) -> None:
        super().__init__(settings, environ)
        self._jobs = settings.home / "jobs"
        self._offer = Offer()
        self._checks: list[Check] = []
        self._capacity = Capacity()
        self._lacks_logs: list[Right] = []
        self._watches: dict[str, JobWatch] = {}
        self._cancelled: set[str] = set()
        self._arriving: set[str] = set()
        """Jobs that go on here and were sent by this process."""

    async def look(self) -> None:
        """Ask the cluster what it understands."""
        infra = self._infra()
        cluster = self._cluster(infra.kubeconfig, infra.context)
        try:
            async with asyncio.timeout(_LOOK_S):
                self._offer = await cluster.offer(infra.place)
                self._lacks_logs = await cluster.missing(infra.place, [LOGS])
        except TimeoutError:
            raise UnavailableError(
                f"{self.name} does not answer",
                hint=f"try: kubectl --context {infra.context} get ns",
            ) from None
        await self._forget_gone(infra)

    async def survey(self) -> None:
        """Look at nodes, pods and quotas, as far as they may be read."""
        try:
            infra = self._infra()
            cluster = self._cluster(infra.kubeconfig, infra.context)
            await self.look()
            async with asyncio.timeout(_LOOK_S):
                self._checks, self._capacity = await cluster.survey(infra.place, self._offer)
        except TimeoutError:
            self._checks = [
                checks.failed(UnavailableError(f"{self.name} takes too long to answer"))
            ]
        except TrainwayError as error:
            self._checks = [checks.failed(error)]

    def capabilities(self) -> Mapping[Feature, str]:
        """Everything; GPUs where a node has some."""
        has_gpus = bool(self._capacity.gpus) or any(pool.gpus for pool in self._capacity.pools)
        no_gpus = "" if has_gpus else "no node has a GPU that pods can ask for"
        return dict.fromkeys(Feature, "") | {Feature.GPUS: no_gpus}

    def check(self) -> list[Check]:
        """What the last survey found."""
        return self._checks

    def warm_up(self) -> None:
        """Import what talks to clusters."""
        cluster_module()

    def capacity(self) -> Capacity:
        """What the last survey found."""
        return self._capacity

    def namespace(self, named: str) -> str:
        """That of `--on`, of the object, or of the context."""
        return self._infra().namespace_for(named)

    def runtime(self, kind: str, name: str) -> Json | None:
        """The cluster's own runtime."""
        return self._offer.runtimes.get((kind, name))

    def runtimes(self) -> list[Json]:
        """The cluster's own runtimes."""
        return list(self._offer.runtimes.values())

    def network(self, job: JobIdentity) -> KubernetesNetwork:
        """The names that JobSet's headless service gives."""
        return KubernetesNetwork(job)

    def release(self, port: int) -> None:
        """Every job has its own network."""

    def has_lost_network(self, handle: Handle) -> bool:  # noqa: ARG002 - it cannot be lost
        """Never."""
        return False

    def problems(self, jobset: Json, source: Json) -> tuple[list[str], list[str]]:
        """What is lost where the cluster has no JobSet."""
        form = choose(source, [], self._offer, self._forced)
        warnings = planning.losses(jobset, source) if form is Form.JOBS else []
        if self._lacks_logs:
            place = self._infra().place
            warnings.append(f"{missing_words(self._lacks_logs, place)}: the job will show no logs")
        errors = planning.without_image(jobset)
        errors += plain_jobs.unclaimed(jobset) if form is Form.JOBS else []
        return errors, warnings

    def plan(self, workload: Workload) -> KubernetesRequest:
        """The objects that will be sent."""
        known = workload.handle
        if known:
            files, context = tuple(known.get("kubeconfig") or ()), str(known["context"])
            infra = Infra(files, context, str(known["namespace"]))
        else:
            infra = self._infra()
        avoided = self._avoided(infra.context).names(workload.id)
        return planning.plan(workload, infra, self._offer, self._forced, avoided)

    async def rehearse(self, request: Request) -> None:
        """Let the API server check all objects without keeping them."""
        wanted = _ours(request)
        cluster, namespace = self._of(wanted.handle), str(wanted.handle["namespace"])
        if wanted.handle.get("held") and (missing := await cluster.missing(namespace, [EXEC])):
            raise ForbiddenError(
                f"{missing_words(missing, namespace)}: its output could not be brought here",
                hint=grant_hint(Task.EXEC, namespace),
            )
        if privileges.are_needed(wanted.objects):
            await self._refuse_privileged(cluster, namespace)
        await cluster.rehearse(wanted)

    async def _refuse_privileged(self, cluster: "KubernetesCluster", namespace: str) -> None:
        """Refuse what the namespace would; one that we may not read is asked by whoever does."""
        from trainway.kube.errors import ApiError  # noqa: PLC0415 - needs the extra
        from trainway.kube.resources import NAMESPACES  # noqa: PLC0415 - as above

        try:
            found = await (await cluster.client()).get(NAMESPACES, namespace)
        except ApiError:
            return
        if why := privileges.refusal(found):
            raise ForbiddenError(
                f"{why}, and a container of the job is privileged, as one that mounts buckets is",
                hint="use mode: COPY, a volume, or a namespace that allows it",
            )

    async def submit(self, request: Request) -> None:
        """Create the objects, unless that was done already."""
        wanted = _ours(request)
        book = self._book(wanted.handle)
        if not await job_threads.run(book.is_submitted):
            if wanted.handle.get("continues"):
                self._arriving.add(str(wanted.handle["id"]))
            await self._of(wanted.handle).submit(wanted, book)

    async def adopt(self, handle: Handle) -> None:
        """Nothing to keep for it."""

    def strays(self, known: Callable[[], Collection[str]]) -> list[Workload]:  # noqa: ARG002 - see below
        """None: what is in a cluster may be another server's."""
        return []

    def watch(self, handle: Handle, after: int) -> AsyncIterator[Update]:
        """What the cluster shows of the job."""
        return self._watch(handle, after)

    async def _watch(self, handle: Handle, after: int) -> AsyncIterator[Update]:
        job_id = str(handle["id"])
        watch = await self._of(handle).watch(handle, self._book(handle))
        watch.log_limit = await job_threads.run(configuration.log_limit, self._settings.home)
        self._watches[job_id] = watch
        if job_id in self._cancelled:
            watch.wake(cancelled=True)
        try:
            async for update in watch.updates(after):
                await self._note_sick(handle, update)
                yield update
        finally:
            if self._watches.get(job_id) is watch:
                del self._watches[job_id]

    async def recover(self, handle: Handle, *, cancelled: bool = False) -> bool:
        """There is no agent: it is enough to watch again."""
        if cancelled:
            await self.cancel(handle)
        return True

    def job_dir(self, handle: Handle) -> JobDir:
        """Where what was copied of it is kept."""
        return JobDir(self._jobs / str(handle["id"]))

    async def suspend(self, handle: Handle) -> None:
        """Have the pods removed, and what they have written by now here where it is wanted."""
        self._arriving.discard(str(handle["id"]))
        if handle.get("held"):
            try:
                async with asyncio.timeout(_LAST_LOOK_S):
                    await self.bring(handle)
            except (TrainwayError, TimeoutError, OSError) as error:
                log.warning("%s: what it wrote last may be lost: %s", handle["name"], error)
        await self._of(handle).suspend(handle, is_suspended=True)

    async def resume(self, handle: Handle) -> None:
        """Have the pods made again; one that has just come was not suspended here."""
        if str(handle["id"]) in self._arriving:
            self._arriving.discard(str(handle["id"]))
            return
        await self._of(handle).suspend(handle, is_suspended=False)

    async def resize(self, handle: Handle, nodes: int) -> None:
        """Let an elastic job have so many nodes at most."""
        await self._of(handle).resize(self._watches.get(str(handle["id"])), nodes)

    def why_stays(self, handle: Handle) -> str:
        """What an operator makes may have no output directory that could be brought."""
        is_kept = Form(handle["form"]) is not Form.SOURCE or handle.get("output")
        return "" if is_kept else planning.STAYS

    async def pack(self, handle: Handle) -> None:
        """Bring its output while it runs, and have its pods keep what they write last."""
        await self._departure(handle).pack()

    async def leave(self, handle: Handle) -> None:
        """Bring what is left of its output, and remove its objects."""
        await self._departure(handle).leave(self._book(handle))

    def why_not_brought(self, handle: Handle) -> str:
        """Only pods that were made for it are held until their output is here."""
        return "" if handle.get("held") else "its pods end before their output is on the server"

    async def bring(self, handle: Handle) -> None:
        """Have what its pods have written by now in the folder of its output."""
        watch = self._watches.get(str(handle["id"]))
        if watch is not None:
            await watch.bring()

    async def cancel(self, handle: Handle) -> None:
        """Remove the top object, and wait until it and its pods are gone."""
        self._cancelled.add(str(handle["id"]))
        watch = self._watches.get(str(handle["id"]))
        if watch is not None:
            watch.wake(cancelled=True)
        await self._of(handle).cancel(handle)
        if watch is not None:
            watch.wake(cancelled=True)

    async def delete(self, handle: Handle) -> None:
        """Remove all objects of the job, and what was kept of it here."""
        await self._of(handle).delete(handle)
        await self.forget(handle)

    async def forget(self, handle: Handle) -> None:
        """Remove what was kept of a job here."""
        self._cancelled.discard(str(handle["id"]))
        await self._discard(handle)

    async def absence(self, handle: Handle) -> Absence | None:
        """Whether the cluster that has the job answers."""
        try:
            async with asyncio.timeout(_LOOK_S):
                await self._of(handle).offer(str(handle["namespace"]))
        except TimeoutError:
            problem = f"the cluster of context {handle['context']} does not answer"
        except UnavailableError as error:
            problem = error.message
        else:
            return None
        return Absence(problem, planning.remains(handle))

    async def pods(self, handle: Handle) -> list[Json]:
        """The pods of a job that are there now."""
        return await self._of(handle).pods(handle)

    async def exec_place(self, handle: Handle, role: str | None, rank: int | None) -> Json:
        """The pod of that role and rank, or the first one, for commands that connect with it."""
        return attachment(handle, await self.pods(handle), role, rank)

    shell_place = port_place = exec_place

    async def pod_places(self, handle: Handle) -> list[Json]:
        """All pods that run, for programs that look into them."""
        return attachments(handle, await self.pods(handle))

    async def log_sizes(self, handle: Handle) -> dict[str, int]:
        """How much each container has written, as far as it was copied here."""
        namespace = str(handle["namespace"])
        missing = await self._of(handle).missing(namespace, [LOGS])
        if missing:
            raise UnavailableError(missing_words(missing, namespace))
        return await super().log_sizes(handle)

    async def end_pod(self, handle: Handle, place: Json) -> None:
        """Delete the pod: nothing in a container can kill its first process."""
        await self._of(handle).end_pod(place)

    @property
    def _forced(self) -> str:
        """The highest form that whoever started the server allows."""
        return self._environ.get(VARIABLE, "")

    def _departure(self, handle: Handle) -> "Departure":
        from trainway.backends.kubernetes.departure import Departure  # noqa: PLC0415 - see above

        return Departure(self._of(handle), handle, self.job_dir(handle))

    def _book(self, handle: Handle) -> RecordBook:
        return RecordBook(self.job_dir(handle).path)


def _ours(request: Request) -> KubernetesRequest:
    if not isinstance(request, KubernetesRequest):
        raise TypeError("not a request of this backend")
    return request
