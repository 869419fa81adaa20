"""Webhooks served from a thread of the test, on an address that the API server can call."""

import asyncio
import contextlib
import json
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, Final, TypeVar

from cluster.access import Access

from trainway.kube.certificate_keeper import ManagedCertificates
from trainway.kube.client import Client
from trainway.kube.connection import load_connection
from trainway.kube.informers import Informers
from trainway.operator import caches
from trainway.operator.listener import listening
from trainway.operator.webhook_configurations import url_client, webhook_configurations
from trainway.operator.webhooks.lookups import RUNTIME_RESOURCES, Lookups
from trainway.operator.webhooks.server import webhook_app

Json = dict[str, Any]
T = TypeVar("T")

HOST: Final = "127.0.0.1"
SYSTEM: Final = "kubeflow-system"
NAMES: Final = (f"operator.{SYSTEM}.svc", HOST)
SECRET: Final = "kubeflow-trainer-webhook-cert"  # noqa: S105 (the name of an object)


@dataclass
class Served:
    """Webhooks that run in a thread with an event loop of its own."""

    cluster: Access
    loop: asyncio.AbstractEventLoop
    client: Client
    keeper: ManagedCertificates
    port: int

    def run(self, work: Awaitable[T]) -> T:
        async def main() -> T:
            return await work

        return asyncio.run_coroutine_threadsafe(main(), self.loop).result(60)

    def create(self, obj: Json, *, check: bool = True) -> CompletedProcess[str]:
        return self.cluster.kubectl("create", "-f", "-", input=json.dumps(obj), check=check)

    def refusal(self, obj: Json, verb: str = "create") -> str:
        """What kubectl says when a webhook denies an object."""
        done = self.cluster.kubectl(verb, "-f", "-", input=json.dumps(obj), check=False)
        assert done.returncode == 1, done.stdout
        assert "(Forbidden)" in done.stderr
        return done.stderr.partition("denied the request: ")[2].strip()


@contextlib.contextmanager
def serving(cluster: Access, folder: Path) -> Iterator[Served]:
    started: list[Served] = []
    ready = threading.Event()

    async def main() -> None:
        async with Client(load_connection(cluster.kubeconfig, None)) as client:
            informers = Informers(client)
            stores = {
                kind: caches.runtimes(informers, resource).store
                for kind, resource in RUNTIME_RESOURCES.items()
            }
            keeper = keeper_of(client, folder)
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            keeper.attach(context)
            await keeper.refresh()
            app = webhook_app(Lookups(client, stores), lambda: datetime.now(UTC))
            watching = asyncio.create_task(informers.run())
            async with listening(app, HOST, 0, context) as port:
                for obj in webhook_configurations(url_client(f"https://{HOST}:{port}")):
                    await client.apply(obj, field_manager="test")
                await keeper.refresh()
                stop = asyncio.Event()
                loop = asyncio.get_running_loop()
                served = Served(cluster, loop, client, keeper, port)
                started.append(served)
                stops.append(lambda: loop.call_soon_threadsafe(stop.set))
                ready.set()
                await stop.wait()
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching

    stops: list[Callable[[], object]] = []
    thread = threading.Thread(target=asyncio.run, args=(main(),))
    thread.start()
    assert ready.wait(30), "the webhooks did not start"
    try:
        yield started[0]
    finally:
        stops[0]()
        thread.join(30)


def keeper_of(client: Client, folder: Path) -> ManagedCertificates:
    return ManagedCertificates(
        client,
        namespace=SYSTEM,
        secret_name=SECRET,
        names=NAMES,
        directory=folder,
        now=lambda: datetime.now(UTC),
    )
