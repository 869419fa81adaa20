"""One machine of the tests: a set of namespaces with an init, which waits for orders.

The init says `ready`, and ends when its input does; the kernel then kills whatever else runs there.
So no machine outlives the process that made it. Where there is a switch it is plugged in to it.
"""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from host_processes import HostProcess, processes_beside
from patience import until
from switch import Switch, UnavailableError

SEARCH_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ISOLATED: Final = ("--mount", "--propagation", "private", "--pid")
"""What every machine has for itself."""


@dataclass(frozen=True)
class Plug:
    """Where a machine is on a network."""

    switch: Switch
    port: str
    number: int

    @property
    def address(self) -> str:
        return self.switch.address(self.number)


class Machine:
    """Switching it off ends all that runs on it."""

    def __init__(self, name: str, folder: Path, init: Sequence[str], plug: Plug | None) -> None:
        """`init`: its first process, a program of Python with its words."""
        self.name = name
        self.folder = folder
        self._init = init
        self._plug = plug
        self._holder: subprocess.Popen[str] | None = None
        self._pid = 0

    @property
    def is_on(self) -> bool:
        """Whether it runs."""
        return self._pid != 0

    @property
    def init(self) -> int:
        """Its first process; 0 while it is off."""
        return self._pid

    @property
    def namespaces(self) -> list[str]:
        """What it has for itself."""
        return [*(["--net"] if self._plug else []), *ISOLATED]

    def power(self) -> None:
        """Begin to switch it on."""
        command = ["unshare", *self.namespaces, "--fork", "--kill-child", "--mount-proc"]
        command += ["/usr/bin/env", "-i", f"PATH={SEARCH_PATH}", sys.executable, "-I", "-S"]
        self._holder = subprocess.Popen(
            [*command, *self._init],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # an interrupt is for the tests, not for the machines
        )

    def boot(self) -> None:
        """Wait until it is on, with its cable in place."""
        holder = self._holder
        assert holder is not None
        if not holder.stdout or holder.stdout.readline() != "ready\n":
            raise UnavailableError("namespaces: cannot be made here")
        self._pid = int(Path(f"/proc/{holder.pid}/task/{holder.pid}/children").read_text())
        if self._plug:
            self._plug.switch.plug(self._pid, self._plug.port, self._plug.number)

    def halt(self) -> None:
        """Switch it off: nothing on it gets a chance to clear up."""
        holder, self._holder = self._holder, None
        pid, self._pid = self._pid, 0
        if holder is None:
            return
        if self._plug and pid:
            self._plug.switch.remove(self._plug.port)
        holder.kill()
        holder.wait()
        for stream in (holder.stdin, holder.stdout):
            if stream:
                stream.close()
        if pid:
            gone = Path(f"/proc/{pid}/ns/mnt")
            until(lambda: not gone.exists(), f"{self.name or 'the controller'} does not end")

    def cut(self) -> None:
        """Pull its cable: what is sent to it, or by it, is lost."""
        assert self._plug, "it has no network of its own"
        self._plug.switch.unplug(self._plug.port)

    def heal(self) -> None:
        """Put the cable back."""
        assert self._plug, "it has no network of its own"
        self._plug.switch.plug_again(self._plug.port)

    def processes(self) -> list[HostProcess]:
        """All that runs on it."""
        return processes_beside(self._pid) if self._pid else []

    def order(self, line: str) -> None:
        """Tell the init something."""
        assert self._holder is not None
        assert self._holder.stdin is not None
        self._holder.stdin.write(f"{line}\n")
        self._holder.stdin.flush()
