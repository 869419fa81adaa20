"""What the GPUs of this machine do, told by a child that asks NVIDIA's driver.

It is a process of its own because a driver whose GPU has failed may never answer.
"""

from __future__ import annotations

import os

from trainway.agent.kubelet.command import Command
from trainway.agent.kubelet.log_writer import STDOUT
from trainway.agent.kubelet.processes import Listener

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Literal

    from trainway.agent.base.event_loop import EventLoop
    from trainway.agent.kubelet.processes import Process, ProcessTable

    GpuFigure = Literal["utilization", "memory", "memoryTotal", "power", "temperature"]

DRIVERS = ("/dev/nvidiactl", "/proc/driver/nvidia/version", "/dev/dxg")
"""One of these is there where NVIDIA's driver is."""
RETRY_SECONDS = 60.0
_LONGEST = 1 << 16
_MIB = 1 << 20
FIGURES: tuple[GpuFigure, ...] = ("utilization", "memory", "memoryTotal", "power", "temperature")
"""In percent, bytes, watts and degrees Celsius."""
_BYTES = ("memory", "memoryTotal")


class Gpu:
    """One GPU at one moment."""

    def __init__(
        self, index: str, uuid: str, figures: dict[GpuFigure, float], pids: set[int]
    ) -> None:
        self.index = index
        self.uuid = uuid
        self.figures = figures
        """Those of `FIGURES` that it knows."""
        self.pids = pids
        """The processes that compute on it, as far as that is known."""


def parsed(line: str) -> Gpu | None:
    """A GPU from a line of either program; None: it is no such line."""
    cells = [cell.strip() for cell in line.split(",")]
    if len(cells) < 2 + len(FIGURES) or not cells[0].isdigit():
        return None
    figures: dict[GpuFigure, float] = {}
    for name, cell in zip(FIGURES, cells[2:]):  # noqa: B905 - not in Python 3.8
        try:
            figures[name] = float(cell) * (_MIB if name in _BYTES else 1)
        except ValueError:  # [N/A], [Not Supported]
            continue
    words = cells[2 + len(FIGURES) :]
    pids = {int(word) for word in " ".join(words).split() if word.isdigit()}
    return Gpu(cells[0], cells[1], figures, pids)


def is_driver_here(drivers: Sequence[str] = DRIVERS) -> bool:
    """Whether this machine has NVIDIA's driver."""
    return any(map(os.path.exists, drivers))


class GpuMonitor(Listener):
    """Starts the child while it is wanted, and remembers what it said last."""

    def __init__(self, loop: EventLoop, processes: ProcessTable, interval: float) -> None:
        self._loop = loop
        self._processes = processes
        self._interval = interval
        self._process: Process | None = None
        self._is_wanted = False
        self._has_spoken = False
        self._text = b""
        self._new: list[Gpu] = []

    def start(self) -> None:
        """Have the GPUs watched."""
        if not self._is_wanted:
            self._is_wanted = True
            self._start()

    def stop(self) -> None:
        """Watch them no more."""
        self._is_wanted, self._new = False, []
        if self._process is not None:
            self._processes.kill(self._process)

    def take(self) -> list[Gpu]:
        """What was said since this was asked last."""
        taken, self._new = self._new, []
        return taken

    def _start(self) -> None:
        if not self._is_wanted or self._process is not None:
            return
        command = Command([], env={}, function=lambda: _report(self._interval))
        self._text, self._has_spoken = b"", False
        try:
            self._process = self._processes.start(command, self, with_output=True)
        except OSError:
            return

    def on_output(self, stream: bytes, data: bytes) -> None:
        """Take in whole lines."""
        if stream != STDOUT:
            return
        *lines, self._text = (self._text + data).split(b"\n")
        self._text = self._text[-_LONGEST:]
        found = (parsed(line.decode("utf-8", "replace")) for line in lines)
        self._new = [*self._new, *(gpu for gpu in found if gpu is not None)][-_LONGEST:]
        self._has_spoken = self._has_spoken or bool(self._new)

    def on_gone(self, process: Process) -> None:  # noqa: ARG002 - it has ended, however it did
        """Start another one later, if this one ever had anything to say."""
        self._process = None
        if self._is_wanted and self._has_spoken:
            self._loop.call_later(RETRY_SECONDS, self._start)


def _report(interval: float) -> int:
    """Be the child."""
    from trainway.agent.kubelet.usage.nvml import report  # noqa: PLC0415 - not for the agent itself

    return report(interval)


def of_pod(gpus: Sequence[Gpu], assigned: Collection[str], pids: Collection[int]) -> list[Gpu]:
    """The GPUs of a pod: those assigned to it, else those that its processes compute on."""
    if assigned:
        return [gpu for gpu in gpus if gpu.index in assigned or gpu.uuid in assigned]
    return [gpu for gpu in gpus if gpu.pids.intersection(pids)]
