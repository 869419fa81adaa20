"""What the pods of one job used, averaged from one record of the journal to the next. Pure."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from trainway.agent.kubelet.usage.averages import Average, pause
from trainway.backends.kubernetes.usage.readings import Reading
from trainway.json_types import Json

if TYPE_CHECKING:
    from trainway.agent.base.records import PodUsage, UsageRecord


class MeasuredPod:
    """One pod, which has a place of the gang for a while."""

    def __init__(self, name: str, peak: int = 0) -> None:
        self.name = name
        self.peak = peak
        """The most memory that it was seen to have."""
        self._time = ""
        self._cpu, self._memory = Average(), Average()
        self._is_fresh = False

    def note(self, reading: Reading) -> None:
        """Take in what it uses, unless that is the last measurement once more."""
        if reading.time and reading.time == self._time:
            return
        self._time, self._is_fresh = reading.time, True
        self.peak = max(self.peak, reading.memory)
        self._cpu.add(reading.cpu)
        self._memory.add(reading.memory)

    def take(self) -> "PodUsage | None":
        """What it used since the last time; None: nothing is known of that."""
        if not self._is_fresh:
            return None
        found: PodUsage = {
            "cpu": round(self._cpu.value, 1),
            "memory": round(self._memory.value),
            "peakMemory": self.peak,
        }
        self._cpu, self._memory, self._is_fresh = Average(), Average(), False
        return found


class JobUsage:
    """The pods of one job, by their places."""

    def __init__(self) -> None:
        self._pods: dict[str, MeasuredPod] = {}
        self._since: float | None = None
        self._written: float | None = None

    def replay(self, key: str, name: str, peak: int) -> None:
        """Take in what an earlier server has written of a pod."""
        self._pods[key] = MeasuredPod(name, peak)

    def note(self, key: str, name: str, reading: Reading) -> None:
        """Take in what the pod uses that has a place now."""
        known = self._pods.get(key)
        if known is None or known.name != name:
            known = self._pods[key] = MeasuredPod(name)
        known.note(reading)

    def peak(self, key: str, name: str) -> int:
        """The most memory that a pod was seen to have, in bytes; 0: it was not seen."""
        known = self._pods.get(key)
        return known.peak if known is not None and known.name == name else 0

    def due(self, now: float, pods: int) -> Json | None:
        """The record of all pods, if it is time for one; a job of so many pods has fewer."""
        self._since = now if self._since is None else self._since
        if self._written is not None and now - self._written < pause(now - self._since, pods):
            return None
        record = self.take(list(self._pods))
        self._written = self._written if record is None else now
        return record

    def take(self, keys: Iterable[str]) -> Json | None:
        """The record of these pods; None: nothing of them is new."""
        known = {key: self._pods[key].take() for key in keys if key in self._pods}
        pods = {key: used for key, used in known.items() if used is not None}
        if not pods:
            return None
        record: UsageRecord = {"type": "usage", "pods": pods}
        return dict(record)
