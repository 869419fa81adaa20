"""What every exporter tells of its process, under the names that all of them use."""

import os
import platform
import resource
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from trainway.telemetry.metric import Metric, Sample, counter, gauge
from trainway.telemetry.registry import Registry
from trainway.version import __version__

BUILD_INFO: Final = gauge(
    "trainway_build_info",
    "1; the labels say which program this is and of which version",
    "component",
    "version",
    "python_version",
)
CPU: Final = counter("process_cpu_seconds_total", "Processor time used, in seconds")
MEMORY: Final = gauge("process_resident_memory_bytes", "Resident memory")
VIRTUAL: Final = gauge("process_virtual_memory_bytes", "Virtual memory")
START: Final = gauge("process_start_time_seconds", "Start of the process, in seconds since 1970")
OPEN_FILES: Final = gauge("process_open_fds", "Open file descriptors")
MOST_FILES: Final = gauge("process_max_fds", "File descriptors that may be open")

PROCESS_METRICS: Final[tuple[Metric, ...]] = (
    BUILD_INFO,
    CPU,
    MEMORY,
    VIRTUAL,
    START,
    OPEN_FILES,
    MOST_FILES,
)
_STARTED: Final = 19
"""The place of the start, in ticks since boot, behind the name in /proc/self/stat."""


def process_registry(component: str, proc: Path = Path("/proc")) -> Registry:
    """The metrics of this process, which is that part of Trainway."""
    registry = Registry(PROCESS_METRICS)
    registry.set(BUILD_INFO, component, __version__, platform.python_version(), value=1)
    registry.set(START, value=_start_time(proc))
    registry.collect(lambda: _samples(proc))
    return registry


def _samples(proc: Path) -> Iterable[Sample]:
    times = os.times()
    yield Sample(CPU, (), times.user + times.system)
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield Sample(MOST_FILES, (), float("inf") if soft == resource.RLIM_INFINITY else soft)
    try:
        pages = (proc / "self" / "statm").read_text().split()
        yield Sample(VIRTUAL, (), int(pages[0]) * resource.getpagesize())
        yield Sample(MEMORY, (), int(pages[1]) * resource.getpagesize())
        yield Sample(OPEN_FILES, (), len(list((proc / "self" / "fd").iterdir())))
    except (OSError, ValueError, IndexError):
        return  # there is no such file where this is not Linux


def _start_time(proc: Path) -> float:
    try:
        fields = (proc / "self" / "stat").read_text().rpartition(")")[2].split()
        uptime = float((proc / "uptime").read_text().split()[0])
        return time.time() - uptime + int(fields[_STARTED]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return time.time()
