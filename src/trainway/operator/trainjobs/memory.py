"""What the controller remembers of each TrainJob between two looks at it.

All of it can be lost: it spares requests and bridges the delay of the caches. What must not be
forgotten is in the cluster.
"""

from dataclasses import dataclass, field
from datetime import datetime

from trainway.compiler.plugins.progress import StatusEndpoint
from trainway.compiler.workload import Runtime
from trainway.json_types import Json
from trainway.operator.trainjobs.children import Child, Sent, is_newer
from trainway.operator.trainjobs.measures import Observed


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A runtime in the two forms in which it is needed."""

    text: str
    runtime: Runtime


@dataclass(frozen=True, slots=True)
class BuiltFor:
    """What the children were built from; if it is the same, so are they."""

    generation: int
    endpoint: StatusEndpoint | None


@dataclass(slots=True)
class Note:
    """About one TrainJob, known by its uid."""

    uid: str
    snapshot: Snapshot | None = None
    built_for: BuiltFor | None = None
    children: tuple[Child, ...] = ()
    sent: dict[tuple[str, str], Sent] = field(default_factory=dict)
    written: tuple[str, Json] | None = None
    """The resourceVersion and the status that the API server last answered."""
    shown: tuple[str, datetime] | None = None
    """The build error that was last told, and when."""
    warned: set[str] = field(default_factory=set)
    """Bad settings that were told of."""
    observed: Observed = field(default_factory=Observed)
    gpus: int = 0
    is_gang: bool = False

    def latest(self, job: Json) -> Json:
        """The TrainJob, with the status that we wrote where the cache does not have it yet."""
        if self.written is None:
            return job
        version, status = self.written
        if not is_newer(version, str(job["metadata"].get("resourceVersion", ""))):
            self.written = None
            return job
        metadata = {**job["metadata"], "resourceVersion": version}
        return {**job, "metadata": metadata, "status": status}

    def settle(self) -> None:
        """Keep less of a TrainJob that has ended."""
        self.snapshot, self.built_for = None, None
        self.children, self.sent = (), {}


class Memory:
    """All notes by the key of the TrainJob."""

    def __init__(self) -> None:
        self._notes: dict[str, Note] = {}
        self._ends: dict[str, Json] = {}
        self._waiting: dict[str, set[str]] = {}

    def note(self, key: str, uid: str) -> Note:
        """The note about a TrainJob; an empty one if there was none about this very one."""
        note = self._notes.get(key)
        if note is None or note.uid != uid:
            note = self._notes[key] = Note(uid)
        return note

    def forget(self, key: str) -> None:
        """The TrainJob is gone."""
        self._notes.pop(key, None)
        self._ends.pop(key, None)
        for runtime, keys in list(self._waiting.items()):
            keys.discard(key)
            if not keys:
                del self._waiting[runtime]

    def child_gone(self, key: str, kind: str, name: str, uid: str) -> None:
        """A child was deleted, so it is no longer on its way to the cache."""
        note = self._notes.get(key)
        sent = note.sent.get((kind, name)) if note else None
        if note is not None and sent is not None and sent.uid == uid:
            del note.sent[kind, name]

    def remember_end(self, key: str, jobset: Json) -> None:
        """A JobSet that had ended was deleted: its end may not be in the TrainJob's status yet."""
        self._ends[key] = jobset

    def forget_end(self, key: str) -> None:
        """The end is in the status."""
        self._ends.pop(key, None)

    def end(self, key: str) -> Json | None:
        """The last state of a JobSet that had ended and is gone."""
        return self._ends.get(key)

    def wait_for_runtime(self, runtime: str, key: str) -> None:
        """The TrainJob can be built once there is this runtime."""
        self._waiting.setdefault(runtime, set()).add(key)

    def runtime_appeared(self, runtime: str) -> set[str]:
        """The TrainJobs that waited for a runtime."""
        return self._waiting.pop(runtime, set())
