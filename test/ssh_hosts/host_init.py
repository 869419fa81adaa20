"""The first process of a host: `host_init.py FOLDER NAME`, inside namespaces of its own.

It makes the host's own files visible, starts sshd whenever a line arrives, and waits for processes
that lost their parents, as an init does. When its input ends it ends too, and the kernel kills
whatever else runs on the host: so a host never outlives the process that made it.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

SSHD: Final = "/usr/sbin/sshd"


class Init:
    """Runs one sshd at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sshd = 0

    def restart_sshd(self) -> None:
        """Start it; one that runs is ended first, its sessions are left alone."""
        if self._sshd:
            os.kill(self._sshd, signal.SIGKILL)
            while Path(f"/proc/{self._sshd}").exists():  # until it is reaped, it may have its port
                time.sleep(0.005)
            self._sshd = 0
        command = [SSHD, "-D", "-E", str(self._folder / "sshd.log")]
        command += ["-f", str(self._folder / "sshd_config")]
        self._sshd = os.posix_spawn(SSHD, command, {"PATH": os.environ["PATH"]})

    def reap(self, *_: object) -> None:
        """Wait for all children that have ended."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, _status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return


def own_files(folder: Path) -> None:
    """Its settings, with its users and names of hosts; its run-time files and shared memory.

    All of /etc is its own: a file that is mounted over another one is gone as soon as somebody
    replaces that one, as a package does that adds a user.
    """
    settings = folder / "etc"
    settings.mkdir(exist_ok=True)
    mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", str(settings))
    subprocess.run(["cp", "-a", "/etc/.", str(settings)], check=True)
    for name in ("passwd", "hosts"):
        shutil.copyfile(folder / name, settings / name)
    mount("--move", str(settings), "/etc")
    for place in ("/run", "/dev/shm"):  # noqa: S108 (memory that processes of one host share)
        mount("-t", "tmpfs", "tmpfs", place)
    Path("/run/sshd").mkdir(mode=0o755)


def mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


def main(folder: str, name: str) -> None:
    socket.sethostname(name)
    own_files(Path(folder))
    os.umask(0o022)
    init = Init(Path(folder))
    signal.signal(signal.SIGCHLD, init.reap)
    init.reap()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while sys.stdin.readline():
        init.restart_sshd()


if __name__ == "__main__":
    main(*sys.argv[1:])
