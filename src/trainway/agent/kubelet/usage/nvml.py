"""The figures of NVIDIA's GPUs, by NVML: each a line as `nvidia-smi` would write it.

The library is asked directly, as in `gpus`: its Python binding does the same and would have to be
installed wherever an agent runs.
"""

from __future__ import annotations

import ctypes
import os
import time

from trainway.agent.kubelet.gpus import NVML

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

QUERY = "index,uuid,utilization.gpu,memory.used,memory.total,power.draw,temperature.gpu"
"""What both write, separated by commas: in percent, MiB, watts and degrees Celsius."""
_MIB = 1 << 20
_TEMPERATURE_OF_GPU = 0
_UUID_LENGTH = 96
_MOST_PROCESSES = 256


class _Utilization(ctypes.Structure):
    _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]


class _Memory(ctypes.Structure):
    _fields_ = [
        ("total", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    ]


class _Process(ctypes.Structure):
    _fields_ = [
        ("pid", ctypes.c_uint),
        ("memory", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    ]


class NvmlError(Exception):
    """The library is not there, or says nothing."""


class Nvml:
    """The driver, as long as it answers."""

    def __init__(self, library: str = NVML) -> None:
        try:
            self._library = ctypes.CDLL(library)
        except OSError as error:
            raise NvmlError(str(error)) from error
        self._call("nvmlInit_v2")
        count = ctypes.c_uint()
        self._call("nvmlDeviceGetCount_v2", ctypes.byref(count))
        self._devices = [self._device(index) for index in range(count.value)]

    def _device(self, index: int) -> ctypes.c_void_p:
        device = ctypes.c_void_p()
        self._call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(index), ctypes.byref(device))
        return device

    def lines(self) -> Iterator[str]:
        """A line for each GPU: what `QUERY` says, and the processes that compute on it."""
        for index, device in enumerate(self._devices):
            uuid = ctypes.create_string_buffer(_UUID_LENGTH)
            used, memory = _Utilization(), _Memory()
            milliwatts, degrees = ctypes.c_uint(), ctypes.c_uint()
            sensor = ctypes.c_uint(_TEMPERATURE_OF_GPU)
            is_named = self._has("nvmlDeviceGetUUID", device, uuid, ctypes.c_uint(_UUID_LENGTH))
            is_used = self._has("nvmlDeviceGetUtilizationRates", device, ctypes.byref(used))
            has_memory = self._has("nvmlDeviceGetMemoryInfo", device, ctypes.byref(memory))
            has_power = self._has("nvmlDeviceGetPowerUsage", device, ctypes.byref(milliwatts))
            is_warm = self._has("nvmlDeviceGetTemperature", device, sensor, ctypes.byref(degrees))
            cells = (
                (is_named, uuid.value.decode("ascii", "replace")),
                (is_used, used.gpu),
                (has_memory, memory.used // _MIB),
                (has_memory, memory.total // _MIB),
                (has_power, milliwatts.value / 1000),
                (is_warm, degrees.value),
            )
            texts = [str(value) if is_known else "[N/A]" for is_known, value in cells]
            pids = " ".join(map(str, self._processes(device)))
            yield ", ".join((str(index), *texts, pids))

    def _processes(self, device: ctypes.c_void_p) -> list[int]:
        count, found = ctypes.c_uint(_MOST_PROCESSES), (_Process * _MOST_PROCESSES)()
        name = "nvmlDeviceGetComputeRunningProcesses_v3"
        is_known = self._has(name, device, ctypes.byref(count), found)
        return [found[place].pid for place in range(count.value)] if is_known else []

    def _has(self, name: str, *arguments: object) -> bool:
        """Whether the driver answers; not every GPU knows everything of itself."""
        function = getattr(self._library, name, None)
        return function is not None and function(*arguments) == 0

    def _call(self, name: str, *arguments: object) -> None:
        if not self._has(name, *arguments):
            raise NvmlError(f"{name} failed")


def report(interval: float, sleep: Callable[[float], object] = time.sleep) -> int:
    """Write the lines of all GPUs again and again; the exit status where that cannot be.

    Without the library `nvidia-smi` takes the place of this process, if it is there.
    """
    try:
        nvml = Nvml()
    except NvmlError:
        return _become_nvidia_smi(interval)
    while True:
        text = "".join(f"{line}\n" for line in nvml.lines())
        os.write(1, text.encode())
        sleep(interval)


def _become_nvidia_smi(interval: float) -> int:
    options = (f"--query-gpu={QUERY}", "--format=csv,noheader,nounits", f"--loop={interval:.0f}")
    try:
        os.execvp("nvidia-smi", ["nvidia-smi", *options])  # noqa: S606, S607 - wherever it is
    except OSError:
        return 1
