"""The terminal of this process, connected with a command in a pod."""

import asyncio
import os
import signal
import sys
import termios
import threading
import tty
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Final

import orjson

from trainway.kube import channels, requests
from trainway.kube.channels import Channels
from trainway.kube.client import Client
from trainway.kube.execution import converse
from trainway.kube.requests import Execution

_STDIN: Final = 0
_STDOUT: Final = 1
_STDERR: Final = 2
_BLOCK: Final = 1 << 16
_WAITING: Final = 4
"""How many blocks are read ahead of what the other side takes."""


async def run_command(client: Client, namespace: str, pod: str, wanted: Execution) -> int:
    """Run a command in a pod as if it ran here; its exit status."""
    if wanted.tty and not os.isatty(_STDIN):
        sys.stderr.write("warning: there is no terminal, because the input is not one\n")
        wanted = wanted._replace(tty=False)
    async with client.channels(requests.execution(namespace, pod, wanted)) as connected:
        given = typed(_STDIN) if wanted.stdin else None
        if not wanted.tty:
            return await converse(connected, _write, given)
        with raw(_STDIN), _resizing(connected):
            return await converse(connected, _write, given)


async def typed(file: int) -> AsyncIterator[bytes]:
    """What comes in from a file, whether or not that can be waited for otherwise."""
    loop = asyncio.get_running_loop()
    blocks: asyncio.Queue[bytes] = asyncio.Queue(_WAITING)

    def read() -> None:
        try:
            while True:
                block = os.read(file, _BLOCK)
                asyncio.run_coroutine_threadsafe(blocks.put(block), loop).result()
                if not block:
                    return
        except (OSError, RuntimeError, asyncio.CancelledError):
            return  # nobody reads any more

    # Never joined: a read from a terminal cannot be broken off.
    threading.Thread(target=read, name="input", daemon=True).start()
    while block := await blocks.get():
        yield block


@contextmanager
def raw(file: int) -> Iterator[None]:
    """Pass every key on, Ctrl-C too; the terminal is as before in the end."""
    before = termios.tcgetattr(file)
    tty.setraw(file, termios.TCSADRAIN)  # what was typed already counts
    try:
        yield
    finally:
        termios.tcsetattr(file, termios.TCSADRAIN, before)


@contextmanager
def _resizing(connected: Channels) -> Iterator[None]:
    """Tell the size of the terminal, now and when it changes."""
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()

    def tell() -> None:
        task = loop.create_task(connected.send(channels.RESIZE, size(os.get_terminal_size)))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    loop.add_signal_handler(signal.SIGWINCH, tell)
    tell()
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGWINCH)
        for task in tasks:
            task.cancel()


def size(of: Callable[[int], os.terminal_size]) -> bytes:
    """The size of our terminal, as the other side wants it."""
    columns, lines = of(_STDIN)
    return orjson.dumps({"Width": columns, "Height": lines})


def _write(channel: int, data: bytes) -> None:
    file = _STDERR if channel == channels.STDERR else _STDOUT
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]
