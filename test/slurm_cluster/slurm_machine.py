"""One machine of the cluster: a set of namespaces with an init (`slurm_init.py`).

Processes and mounts are always its own; the hostname and the network where it is a node.
"""

import itertools
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from host_processes import HostProcess, processes_beside
from slurm_init import SEARCH_PATH
from switch import Switch, UnavailableError

PATIENCE_S: Final = 60.0
TAIL: Final = 20


class Machine:
    """Runs daemons; switching it off ends them and all they started."""

    def __init__(self, name: str, folder: Path, mounts: Sequence[str] = ()) -> None:
        self.name = name
        self.folder = folder
        self._mounts = mounts
        self._holder: subprocess.Popen[str] | None = None
        self._pid = 0

    @property
    def is_on(self) -> bool:
        """Whether it runs."""
        return self._pid != 0

    @property
    def namespaces(self) -> list[str]:
        """What it has for itself."""
        return ["--mount", "--propagation", "private", "--pid"]

    def power(self) -> None:
        """Begin to switch it on."""
        command = ["unshare", *self.namespaces, "--fork", "--kill-child", "--mount-proc"]
        command += ["/usr/bin/env", "-i", f"PATH={SEARCH_PATH}", sys.executable, "-I", "-S"]
        command += [str(Path(__file__).with_name("slurm_init.py")), self.name, *self._mounts]
        self._holder = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # an interrupt is for the tests, not for the cluster
        )

    def boot(self) -> None:
        """Wait until it is on."""
        holder = self._holder
        assert holder is not None
        if not holder.stdout or holder.stdout.readline() != "ready\n":
            raise UnavailableError("namespaces: cannot be made here")
        self._pid = int(Path(f"/proc/{holder.pid}/task/{holder.pid}/children").read_text())

    def start(self, *command: str, env: Mapping[str, str] | None = None) -> None:
        """Start a daemon; its name is that of its program."""
        name = Path(command[0]).name
        log = str(self.folder / f"{name}.out")
        self._order({"name": name, "command": command, "log": log, "env": dict(env or {})})

    def end(self, name: str, number: signal.Signals = signal.SIGTERM) -> None:
        """End a daemon with a signal; what it started goes on."""
        daemon = next((each for each in self.processes() if each.words[0] == name), None)
        self._order({"name": name, "signal": number})
        until(lambda: daemon is None or not daemon.is_alive, f"{name} does not end")

    def said(self, name: str) -> str:
        """The last that a daemon said, for the message of a failure."""
        logs = [self.folder / f"{name}{suffix}" for suffix in (".log", ".out")]
        tails = [log.read_text().splitlines()[-TAIL:] for log in logs if log.exists()]
        return "\n".join(["", *itertools.chain.from_iterable(tails)])

    def processes(self) -> list[HostProcess]:
        """All that runs on it."""
        return processes_beside(self._pid) if self._pid else []

    def halt(self) -> None:
        """Switch it off: nothing on it gets a chance to clear up."""
        holder, self._holder = self._holder, None
        pid, self._pid = self._pid, 0
        if holder is None:
            return
        holder.kill()
        holder.wait()
        for stream in (holder.stdin, holder.stdout):
            if stream:
                stream.close()
        if pid:
            gone = Path(f"/proc/{pid}/ns/mnt")
            until(lambda: not gone.exists(), f"{self.name or 'the controller'} does not end")

    def _order(self, order: dict[str, object]) -> None:
        assert self._holder is not None
        assert self._holder.stdin is not None
        self._holder.stdin.write(json.dumps(order) + "\n")
        self._holder.stdin.flush()


class Node(Machine):
    """A machine with a slurmd; on a network of its own where there is a switch."""

    def __init__(
        self, name: str, folder: Path, mounts: Sequence[str], switch: Switch | None, number: int
    ) -> None:
        super().__init__(name, folder, mounts)
        self._switch = switch
        self._number = number
        self._port = f"n{number}"

    @property
    def namespaces(self) -> list[str]:
        """Its hostname and shared memory too."""
        own = ["--uts", "--ipc", *super().namespaces]
        return ["--net", *own] if self._switch else own

    @property
    def log(self) -> str:
        """What its slurmd said."""
        return (self.folder / "slurmd.log").read_text(errors="replace")

    def boot(self) -> None:
        """Switch it on, with its cable in place."""
        super().boot()
        if self._switch:
            self._switch.plug(self._pid, self._port, self._number)

    def halt(self) -> None:
        """Switch it off."""
        if self._switch and self.is_on:
            self._switch.remove(self._port)
        super().halt()

    def cut(self) -> None:
        """Pull its cable: what is sent to it, or by it, is lost."""
        assert self._switch, "the nodes have no network of their own"
        self._switch.unplug(self._port)

    def heal(self) -> None:
        """Put the cable back."""
        assert self._switch, "the nodes have no network of their own"
        self._switch.plug_again(self._port)


def until(
    condition: Callable[[], bool],
    failure: str,
    patience_s: float = PATIENCE_S,
    said: Callable[[], str] = str,
) -> None:
    """Wait for something that nobody reports; fail when it does not come."""
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, f"{failure}{said()}"
        time.sleep(0.02)
