"""One machine of the cluster, with an init (`slurm_init.py`) that starts and ends daemons.

Processes and mounts are always its own; the hostname and the network where it is a node.
"""

import itertools
import json
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from machine import Machine, Plug
from patience import until

TAIL: Final = 20
INIT: Final = Path(__file__).with_name("slurm_init.py")


class DaemonMachine(Machine):
    """Runs daemons; switching it off ends them and all they started."""

    def __init__(
        self, name: str, folder: Path, mounts: Sequence[str] = (), plug: Plug | None = None
    ) -> None:
        super().__init__(name, folder, [str(INIT), name, *mounts], plug)

    def start(self, *command: str, env: Mapping[str, str] | None = None) -> None:
        """Start a daemon; its name is that of its program."""
        name = Path(command[0]).name
        log = str(self.folder / f"{name}.out")
        self._tell({"name": name, "command": command, "log": log, "env": dict(env or {})})

    def end(self, name: str, number: signal.Signals = signal.SIGTERM) -> None:
        """End a daemon with a signal; what it started goes on."""
        daemon = next((each for each in self.processes() if each.words[0] == name), None)
        self._tell({"name": name, "signal": number})
        until(lambda: daemon is None or not daemon.is_alive, f"{name} does not end")

    def said(self, name: str) -> str:
        """The last that a daemon said, for the message of a failure."""
        logs = [self.folder / f"{name}{suffix}" for suffix in (".log", ".out")]
        tails = [log.read_text().splitlines()[-TAIL:] for log in logs if log.exists()]
        return "\n".join(["", *itertools.chain.from_iterable(tails)])

    def _tell(self, order: dict[str, object]) -> None:
        self.order(json.dumps(order))


class Node(DaemonMachine):
    """A machine with a slurmd; on a network of its own where there is a switch."""

    @property
    def namespaces(self) -> list[str]:
        """Its hostname and shared memory too."""
        return ["--uts", "--ipc", *super().namespaces]

    @property
    def log(self) -> str:
        """What its slurmd said."""
        return (self.folder / "slurmd.log").read_text(errors="replace")
