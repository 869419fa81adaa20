"""Starts the parts of the operator in their order, and ends them in the reverse order.

Health answers first. Certificates come next, for nothing is served without them; then webhooks,
metrics and the status server, on every replica. Controllers run on the leader alone, each group
once the cluster serves the kinds it works on; the other replicas keep their caches warm.

What the cluster cannot give yet is waited for and told in the log: a restart would mend nothing.
"""

import asyncio
import contextlib
import logging
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from aiohttp import web

from trainway.compiler.keys import GeneratedKeys
from trainway.compiler.plugins.progress import StatusEndpoint
from trainway.errors import TrainwayError
from trainway.kube.certificate_keeper import (
    CertificateFiles,
    CertificateKeeper,
    ManagedCertificates,
    keep,
)
from trainway.kube.client import Client
from trainway.kube.controller import Controller
from trainway.kube.errors import Unauthorized
from trainway.kube.events import EventRecorder
from trainway.kube.informers import Informers
from trainway.kube.lease import LeaderElection
from trainway.kube.resources import Resource
from trainway.operator import status_server
from trainway.operator.bind_address import parse_bind_address
from trainway.operator.config import OperatorConfig
from trainway.operator.context import Context
from trainway.operator.controllers import GROUPS, ControllerGroup
from trainway.operator.health import health_app
from trainway.operator.listener import listening
from trainway.operator.metrics import Metrics
from trainway.operator.metrics_server import MetricsReaders, metrics_app
from trainway.operator.tls import server_context
from trainway.operator.webhooks import server as webhooks

RETRY_S: Final = 2.0
EVENT_COMPONENTS: Final = (
    "trainer-trainjob-controller",
    "mpi-job-controller",
    "trainer-optimizationjob-controller",
)
"""What events name as their source; of TrainJobs and MPIJobs as upstream's do."""
_USUAL_CERT_DIR: Final = Path("k8s-webhook-server", "serving-certs")
"""Where controller-runtime looks for certificates, below the folder for temporary files."""
_ANY_HOST: Final = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 (a text to compare with)

_log = logging.getLogger(__name__)

Groups = Mapping[ControllerGroup, Sequence[Controller]]


class Manager:
    """The operator, from its start to its end."""

    def __init__(
        self,
        client: Client,
        config: OperatorConfig,
        namespace: str,
        identity: str,
        now: Callable[[], datetime],
    ) -> None:
        self._client = client
        self._config = config
        self._namespace = namespace
        self._identity = identity
        self._now = now
        self._metrics = Metrics()
        self._metrics.leader(config.leader_election.resource_name, is_leader=False)
        self._metrics.show_requests(client.connection.host, client.answers)
        self._informers = Informers(client, config.namespaces)
        self._service = f"{config.cert.service_name}.{namespace}.svc"
        self._keeper: CertificateKeeper | None = None
        self._serves_webhooks = False
        self._told: set[str] = set()

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set; raises what makes it impossible to go on."""
        work = asyncio.create_task(self._work())
        stopped = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({work, stopped}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
            work.cancel()
            await asyncio.wait({work, stopped})
        if not work.cancelled() and (error := work.exception()) is not None:
            raise _first(error)

    def not_ready(self) -> str | None:
        """Why the API server should not ask us yet."""
        if self._keeper is None or not self._keeper.ready:
            return "certificates are not ready"
        return None if self._serves_webhooks else "the webhook server has not started"

    async def _work(self) -> None:
        async with contextlib.AsyncExitStack() as stack:
            await self._serve_health(stack)
            await self._retried(self._greet)
            context = await self._context(stack)
            app = webhooks.build_app(context)
            groups = {group: await group.build(context) for group in GROUPS}
            self._show(groups)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._informers.run(), name="informers")
                keeper = self._keeper = self._certificates(stack)
                self._metrics.show_certificate(lambda: keeper.end)
                await self._retried(keeper.refresh)
                tasks.create_task(keep(keeper), name="certificates")
                config = self._config
                await self._serve(stack, "webhooks", app, config.webhook.host, config.webhook.port)
                self._serves_webhooks = True
                await self._serve_metrics(stack)
                await self._serve_status(stack, context)
                await self._control(groups)

    # Servers

    async def _serve_health(self, stack: contextlib.AsyncExitStack) -> None:
        address = parse_bind_address(self._config.health.bind_address)
        if address is not None:
            app = health_app(self._config.health, self.not_ready)
            port = await stack.enter_async_context(listening(app, address.host, address.port))
            _log.info("health answers at port %d", port)

    async def _serve(
        self,
        stack: contextlib.AsyncExitStack,
        what: str,
        app: web.Application,
        host: str,
        port: int,
        *,
        secure: bool = True,
    ) -> None:
        context = None
        if secure and self._keeper is not None:
            context = server_context(self._config.tls)
            self._keeper.attach(context)
        port = await stack.enter_async_context(listening(app, host, port, context))
        _log.info("%s listen at port %d", what, port)

    async def _serve_metrics(self, stack: contextlib.AsyncExitStack) -> None:
        config = self._config.metrics
        address = parse_bind_address(config.bind_address)
        if address is not None:
            readers = MetricsReaders(self._client, time.monotonic) if config.auth_enabled else None
            app = metrics_app(self._metrics, readers.allow if readers else None)
            host, port, secure = address.host, address.port, config.secure_serving
            await self._serve(stack, "metrics", app, host, port, secure=secure)

    async def _serve_status(self, stack: contextlib.AsyncExitStack, context: Context) -> None:
        if not self._config.feature_gates.train_job_status:
            return
        limits = self._config.status_server
        client = await stack.enter_async_context(
            Client(self._client.connection, qps=limits.qps or None, burst=limits.burst or None)
        )
        self._metrics.show_requests(client.connection.host, client.answers)
        app = status_server.build_app(context, client)
        await self._serve(stack, "status reports", app, self._config.webhook.host, limits.port)

    def _certificates(self, stack: contextlib.AsyncExitStack) -> CertificateKeeper:
        folder, cert = self._config.webhook.cert_dir, self._config.cert
        if folder is None and cert.enabled:
            host = self._config.webhook.host
            private = tempfile.TemporaryDirectory(prefix="trainway-operator-")
            return ManagedCertificates(
                self._client,
                namespace=self._namespace,
                secret_name=cert.secret_name,
                names=(self._service, *(() if host in _ANY_HOST else (host,))),
                directory=Path(stack.enter_context(private)),
                now=self._now,
            )
        return CertificateFiles(folder or Path(tempfile.gettempdir(), _USUAL_CERT_DIR))

    # Controllers

    async def _context(self, stack: contextlib.AsyncExitStack) -> Context:
        recorder, mpi_recorder, optimization_recorder = [
            await stack.enter_async_context(EventRecorder(self._client, component, self._now))
            for component in EVENT_COMPONENTS
        ]
        return Context(
            client=self._client,
            informers=self._informers,
            recorder=recorder,
            mpi_recorder=mpi_recorder,
            optimization_recorder=optimization_recorder,
            config=self._config,
            now=self._now,
            metrics=self._metrics,
            keys=GeneratedKeys(),
            endpoint=self._status_endpoint,
            namespace=self._namespace,
        )

    def _status_endpoint(self) -> StatusEndpoint | None:
        authorities = self._keeper.authorities if self._keeper is not None else ""
        if not (self._config.feature_gates.train_job_status and authorities):
            return None
        return StatusEndpoint(self._service, authorities, self._config.status_server.port)

    def _show(self, groups: Groups) -> None:
        """What is read at the moment when somebody asks for the metrics."""
        for controller in (each for controllers in groups.values() for each in controllers):
            self._metrics.show_queue(controller.name, controller.queue, controller.workers)
            controller.queue.on_taken = partial(self._metrics.on_taken, controller.name)
        for informer in self._informers:
            self._metrics.show_watch(str(informer.resource), informer.age)

    async def _control(self, groups: Groups) -> None:
        """Run the controllers, as leader where there is an election."""
        election = self._config.leader_election
        if not election.leader_elect:
            await self._run_controllers(groups)
            return
        candidate = LeaderElection(
            self._client,
            election.resource_namespace or self._namespace,
            election.resource_name,
            self._identity,
            election.lease_seconds,
            election.renew_seconds,
            election.retry_seconds,
            now=self._now,
        )
        await candidate.lead(lambda: self._run_controllers(groups))

    async def _run_controllers(self, groups: Groups) -> None:
        lease = self._config.leader_election.resource_name
        self._metrics.leader(lease, is_leader=True)
        try:
            async with asyncio.TaskGroup() as tasks:
                for group, controllers in groups.items():
                    tasks.create_task(self._run_group(group, controllers), name=group.name)
        finally:
            self._metrics.leader(lease, is_leader=False)

    async def _run_group(self, group: ControllerGroup, controllers: Sequence[Controller]) -> None:
        while missing := await self._missing(group):
            self._tell(f"{group.name}s wait: the cluster does not serve {missing}")
            await asyncio.sleep(RETRY_S)
        for informer in self._informers:
            if informer.resource in group.needs or await self._is_served(informer.resource):
                await informer.synced()
        _log.info("controllers of %ss start", group.name)
        async with asyncio.TaskGroup() as tasks:
            for controller in controllers:
                tasks.create_task(controller.run(), name=controller.name)

    # What may have to be tried again

    async def _missing(self, group: ControllerGroup) -> str:
        """The kinds that a group needs and the cluster does not have."""
        found = [resource for resource in group.needs if not await self._is_served(resource)]
        return ", ".join(str(resource) for resource in found)

    async def _is_served(self, resource: Resource) -> bool:
        served = False

        async def ask() -> None:
            nonlocal served
            served = await self._client.serves(resource)

        await self._retried(ask)
        return served

    async def _greet(self) -> None:
        """The first request; wrong credentials are told at once."""
        version = await self._client.raw("GET", "/version")
        _log.info("the API server is Kubernetes %s", version.get("gitVersion", "?"))

    async def _retried(self, action: Callable[[], Awaitable[None]]) -> None:
        """Try until it works."""
        while True:
            try:
                await action()
                return
            except Unauthorized:
                raise
            except TrainwayError as error:
                self._tell(error.sentence)
            await asyncio.sleep(RETRY_S)

    def _tell(self, problem: str) -> None:
        """Say what is waited for, once."""
        if problem not in self._told:
            self._told.add(problem)
            _log.warning("%s; trying again", problem)


def _first(error: BaseException) -> BaseException:
    """What a group of tasks failed with."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
