"""The operator as a process: its connection, its names, and what signals do.

SIGTERM and SIGINT end it in order: controllers first, then the lease is given back, events are
sent, servers close. A second signal ends it at once. SIGKILL loses nothing, since everything that
matters is in the cluster.
"""

import argparse
import asyncio
import logging
import os
import secrets
import signal
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from trainway import __version__
from trainway.kube.client import Client
from trainway.kube.connection import SERVICE_ACCOUNT, load_connection
from trainway.operator.config import OperatorConfig
from trainway.operator.manager import Manager

DEFAULT_NAMESPACE: Final = "kubeflow-system"

_log = logging.getLogger(__name__)


async def run(config: OperatorConfig, options: argparse.Namespace) -> int:
    """Run until a signal comes; the exit status."""
    stop = asyncio.Event()
    _end_on_signals(stop)
    connection = load_connection(options.kubeconfig, options.context)
    namespace = options.operator_namespace or own_namespace()
    _log.info("trainway operator %s at %s, namespace %s", __version__, connection.host, namespace)
    async with Client(
        connection,
        qps=config.qps or None,
        burst=config.burst or None,
        user_agent=f"trainway-operator/{__version__}",
    ) as client:
        manager = Manager(client, config, namespace, identity(), lambda: datetime.now(UTC))
        await manager.run(stop)
    _log.info("the operator has ended")
    return 0


def own_namespace(service_account: Path = SERVICE_ACCOUNT) -> str:
    """The namespace of the pod we run in; upstream's if this is no pod."""
    try:
        found = (service_account / "namespace").read_text(encoding="utf-8").strip()
    except OSError:
        return DEFAULT_NAMESPACE
    return found or DEFAULT_NAMESPACE


def identity() -> str:
    """A name for this process that no other has, also not the next one in the same pod."""
    return f"{socket.gethostname()}_{os.getpid()}_{secrets.token_hex(4)}"


def _end_on_signals(stop: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()

    def end(name: str) -> None:
        _log.info("%s: ending", name)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end, number.name)
