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
from typing import Final, TypeVar

from cluster.access import Access, KubectlError
from cluster.processes import wait_until

from trainway.json_types import Json
from trainway.kube.certificate_keeper import ManagedCertificates
from trainway.kube.client import Client
from trainway.kube.connection import load_connection
from trainway.kube.resources import TRAINJOBS
from trainway.operator.listener import listening
from trainway.operator.webhook_configurations import url_client, webhook_configurations
from trainway.operator.webhooks.lookups import Lookups
from trainway.operator.webhooks.server import webhook_app

T = TypeVar("T")

HOST: Final = "127.0.0.1"
PATIENCE_S: Final = 120.0
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

        return asyncio.run_coroutine_threadsafe(main(), self.loop).result(PATIENCE_S)

    def create(self, obj: Json, *, check: bool = True) -> CompletedProcess[str]:
        return self.cluster.kubectl("create", "-f", "-", input=json.dumps(obj), check=check)

    def refusal(self, obj: Json, verb: str = "create") -> str:
        """What kubectl says when a webhook denies an object."""
        said = self.failure(obj, lambda text: "failed calling webhook" not in text, verb)
        assert "(Forbidden)" in said
        return said.partition("denied the request: ")[2].strip()

    def failure(self, obj: Json, is_it: Callable[[str], bool], verb: str = "create") -> str:
        """What kubectl says, once it is that: the API server learns of changes a moment later."""
        found = ""

        def is_said() -> bool:
            nonlocal found
            done = self.cluster.kubectl(verb, "-f", "-", input=json.dumps(obj), check=False)
            assert done.returncode == 1, done.stdout
            found = done.stderr
            return is_it(found)

        assert wait_until(is_said, PATIENCE_S), found
        return found


@contextlib.contextmanager
def serving(cluster: Access, folder: Path) -> Iterator[Served]:
    started: list[Served] = []
    ready = threading.Event()

    async def main() -> None:
        async with Client(load_connection(cluster.kubeconfig, None)) as client:
            keeper = keeper_of(client, folder)
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            keeper.attach(context)
            await keeper.refresh()
            app = webhook_app(Lookups(client), lambda: datetime.now(UTC))
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

    stops: list[Callable[[], object]] = []
    thread = threading.Thread(target=asyncio.run, args=(main(),))
    thread.start()
    assert ready.wait(PATIENCE_S), "the webhooks did not start"
    try:
        assert wait_until(lambda: is_judged(cluster), PATIENCE_S), "no webhook is called"
        yield started[0]
    finally:
        stops[0]()
        thread.join(PATIENCE_S)


def is_judged(cluster: Access) -> bool:
    """Whether a webhook denies what it must: the API server learns of them a moment later."""
    job = {
        "apiVersion": TRAINJOBS.api_version,
        "kind": TRAINJOBS.kind,
        "metadata": {"name": "is-asked-about"},
        "spec": {"runtimeRef": {"name": "there-is-none"}},
    }
    try:
        cluster.rehearse(job, "default")
    except KubectlError as error:
        return "denied the request" in str(error)
    return False


def keeper_of(client: Client, folder: Path) -> ManagedCertificates:
    return ManagedCertificates(
        client,
        namespace=SYSTEM,
        secret_name=SECRET,
        names=NAMES,
        directory=folder,
        now=lambda: datetime.now(UTC),
    )
