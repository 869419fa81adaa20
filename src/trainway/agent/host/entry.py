"""`host ...`: the ways to start or reach the host agent.

host connect --home DIR [OPTIONS]    relay to the daemon of DIR, started if need be
host attach --home DIR               the same, where others start it
host daemon --home DIR [OPTIONS]     be that daemon, in the foreground
host join DIR JOB                    run a command in a pod, for the holder of a key
host rsh DIR ...                     reach another pod of the same job

The options are `--idle SECONDS` and `--shared DIR`, the directory in which agents tell each other
what they hold; by default one of the machine.
"""

from __future__ import annotations

import os
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = (
    "usage: host connect|attach|daemon --home DIR [--idle SECONDS] [--shared DIR]"
    " | host join|rsh DIR ..."
)
EXIT_ERROR, EXIT_USAGE = 1, 2
IDLE = 600.0


def main(arguments: Sequence[str]) -> int:
    """Do what the words say; the exit status."""
    name, *rest = arguments or [""]
    if name in ("join", "rsh") and rest:
        status: int = import_module(f"trainway.agent.host.{name}").main(rest)
        return status
    options = _options(rest)
    if name not in ("connect", "attach", "daemon") or options is None:
        os.write(2, USAGE.encode() + b"\n")
        return EXIT_USAGE
    home, idle, shared = options
    if name == "daemon":
        from trainway.agent.base.launch import digest  # noqa: PLC0415 - what this one needs
        from trainway.agent.host.server import run  # noqa: PLC0415 - the same

        return run(home, digest(), idle, _say, shared=shared)
    from trainway.agent.host import connect  # noqa: PLC0415 - the same

    try:
        if name == "attach":
            connect.attach(home)
        else:
            connect.connect(home, idle, shared)
    except (OSError, connect.ConnectError) as error:
        os.write(2, f"the host agent cannot be reached: {error}\n".encode())
        return EXIT_ERROR
    return 0


def _say(text: bytes) -> None:
    os.write(1, text + b"\n")


def _options(words: Sequence[str]) -> tuple[str, float, str] | None:
    given = dict(zip(words[::2], words[1::2]))  # noqa: B905 - not in Python 3.8
    unknown = set(given) - {"--home", "--idle", "--shared"}
    if len(words) % 2 or unknown or not given.get("--home"):
        return None
    try:
        idle = float(given.get("--idle", IDLE))
    except ValueError:
        return None
    return os.path.abspath(given["--home"]), idle, given.get("--shared", "")
