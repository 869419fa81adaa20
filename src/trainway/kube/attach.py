"""A program that connects a terminal with a pod: `exec` and `port-forward`.

`trainway jobs exec`, `shell` and `port-forward` become it, since it needs packages that a client
has no use for. It acts with the kubeconfig of whoever runs it, as kubectl would.
"""

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence
from typing import Final

from trainway.errors import ForbiddenError, TrainwayError
from trainway.kube.access_reviews import missing_rights
from trainway.kube.client import Client
from trainway.kube.connection import Connection, load_connection
from trainway.kube.forwarding import Forward, forward
from trainway.kube.requests import Execution
from trainway.kube.terminal import run_command
from trainway.kube.user_rights import EXEC, PORT_FORWARD, Right, Task, grant_hint, missing_words

_INTERRUPTED: Final = 130


def main(words: Sequence[str] | None = None) -> int:
    """Run the program; its exit status is that of the command."""
    options = _parser().parse_args(words)
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    try:
        return asyncio.run(_run(options))
    except TrainwayError as error:
        hint = f"\nhint: {error.hint}" if error.hint else ""
        sys.stderr.write(f"error: {error.message}{hint}\n")
        return error.exit_code
    except (KeyboardInterrupt, asyncio.CancelledError):
        return _INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


async def _run(options: argparse.Namespace) -> int:
    async with Client(_connection(options), user_agent="trainway-attach") as client:
        await _refuse(client, options.namespace, EXEC if options.verb == "exec" else PORT_FORWARD)
        if options.verb == "exec":
            wanted = Execution(
                options.container, tuple(options.words), stdin=options.stdin, tty=options.tty
            )
            return await run_command(client, options.namespace, options.pod, wanted)
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        forwards = [Forward.parse(word) for word in options.words]
        await forward(client, options.namespace, options.pod, forwards, stop)
        return 0


async def _refuse(client: Client, namespace: str, right: Right) -> None:
    """Say at once that the right is missing; a port would open and take nobody anywhere."""
    missing = await missing_rights(client, namespace, [right])
    if missing:
        raise ForbiddenError(
            missing_words(missing, namespace), hint=grant_hint(Task.EXEC, namespace)
        )


def _connection(options: argparse.Namespace) -> Connection:
    environ = dict(os.environ)
    if options.kubeconfig:
        environ["KUBECONFIG"] = os.pathsep.join(options.kubeconfig)
    return load_connection(context=options.context or None, environ=environ)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="trainway.kube.attach", allow_abbrev=False)
    parser.add_argument("verb", choices=("exec", "port-forward"))
    parser.add_argument("--kubeconfig", action="append", default=[])
    parser.add_argument("--context", default="")
    parser.add_argument("--namespace", required=True)
    parser.add_argument("--pod", required=True)
    parser.add_argument("--container", default="")
    parser.add_argument("--stdin", action="store_true")
    parser.add_argument("--tty", action="store_true")
    parser.add_argument("words", nargs="+")
    return parser


if __name__ == "__main__":
    sys.exit(main())
