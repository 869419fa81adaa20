"""What hosts with SSH and clusters of Slurm have in common: machines in a folder, on a network.

Nothing is left of it at its end, nor if the tests are killed: machines end with who made them, the
network with the last machine, and a janitor (`janitor.py`) removes the rest.
"""

import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

from machine import Machine
from switch import Switch


class MachineRoom(ABC):
    """A folder, and maybe a network; who inherits it puts machines there."""

    def __init__(
        self, prefix: str, mode: int, *, network: Switch | None = None, cgroups: str = ""
    ) -> None:
        """`network`: of others; `cgroups`: how the names begin that the janitor removes."""
        self.folder = Path(tempfile.mkdtemp(prefix=prefix))
        self.folder.chmod(mode)
        self._switch = network
        self._owns_switch = network is None
        self._janitor = start_janitor(self.folder, cgroups)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    @abstractmethod
    def machines(self) -> Sequence[Machine]:
        """All that are there by now."""

    @property
    def network(self) -> Switch:
        """What the machines are plugged in to, where they have a network."""
        assert self._switch is not None
        return self._switch

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Leave nothing behind of what does not come up."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def need_network(self) -> Switch:
        """The network, made now unless it is of others."""
        self._switch = self._switch or Switch()
        return self._switch

    def close(self) -> None:
        """End everything and leave nothing behind, whatever fails on the way."""
        with ExitStack() as stack:
            stack.callback(self._sweep)
            if self._switch is not None and self._owns_switch:
                stack.callback(self._switch.close)
            for machine in self.machines:
                stack.callback(machine.halt)

    def _sweep(self) -> None:
        assert self._janitor.stdin is not None
        self._janitor.stdin.close()
        self._janitor.wait()


def start_janitor(folder: Path, cgroups: str) -> subprocess.Popen[bytes]:
    script = str(Path(__file__).with_name("janitor.py"))
    return subprocess.Popen(
        [sys.executable, "-I", "-S", script, str(folder), cgroups],
        stdin=subprocess.PIPE,
        cwd="/",
        start_new_session=True,
    )
