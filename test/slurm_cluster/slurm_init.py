"""The first process of a node: `slurm_init.py HOSTNAME [WHAT PLACE]...`, in namespaces of its own.

It shows the files of the node in place of those of the machine, starts and kills the daemons it is
told to, and waits for processes that lost their parents, as an init does. When its input ends it
ends too, and the kernel kills whatever else runs there: no daemon and no job outlives the process
that made the cluster.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from typing import Any


class Init:
    """Runs daemons, each by its name."""

    def __init__(self) -> None:
        self._pids: dict[str, int] = {}

    def obey(self, order: dict[str, Any]) -> None:
        """Send a signal to the daemon of that name, or start it."""
        name = order["name"]
        if "signal" in order:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pids.pop(name), order["signal"])
            return
        command = order["command"]
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, order["log"], flags, 0o644),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ]
        env = {"PATH": os.environ["PATH"], **order.get("env", {})}
        self._pids[name] = os.posix_spawnp(
            command[0], command, env, file_actions=actions, setsid=True
        )

    def reap(self, *_: object) -> None:
        """Wait for all children that have ended."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, _status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return


def main(hostname: str, *places: str) -> None:
    if hostname:
        socket.sethostname(hostname)
    for what, place in zip(places[::2], places[1::2], strict=True):
        words = ["-t", "tmpfs", "tmpfs"] if what == "tmpfs" else ["--bind", what]
        subprocess.run(["mount", *words, place], check=True)
    os.umask(0o022)
    init = Init()
    signal.signal(signal.SIGCHLD, init.reap)
    init.reap()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in iter(sys.stdin.readline, ""):
        init.obey(json.loads(line))


if __name__ == "__main__":
    main(*sys.argv[1:])
