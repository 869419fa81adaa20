"""The fields of a form that describes a job, and the words and amounts in them. Pure.

A form has fewer fields than a manifest. What it does not know of a manifest is left alone by
whoever merges the two.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from trainway.api.pod_wishes import NVIDIA_GPU, literal_words, words_of
from trainway.families.family import Runs
from trainway.families.table import family_of
from trainway.jobset.labels import KUEUE_QUEUE_NAME
from trainway.jobset.literal_text import literal
from trainway.json_types import Json

AMOUNTS: Final = {"cpu": "cpu", "memory": "memory", "gpu": NVIDIA_GPU}
"""The names of resources, by the fields that ask for them."""
_SHELL: Final = ("sh", "-c")


class FormKind(StrEnum):
    """What a form can describe."""

    TRAINJOB = "TrainJob"
    MPIJOB = "MPIJob"
    TASK = "Task"
    SCRIPT = "Script"


@dataclass(frozen=True)
class JobForm:
    """A form; an empty field is one that is not filled in."""

    kind: FormKind
    name: str = ""
    namespace: str = ""
    backend: str = ""
    runtime: str = ""
    image: str = ""
    command: str = ""
    """A command as in a shell; of a task its `run`."""
    setup: str = ""
    """Of a task: what runs before."""
    code: str = ""
    """Of a script: Python."""
    nodes: int | None = None
    """Of an MPIJob: its workers."""
    processes: int | None = None
    """Of each node; of an MPIJob the slots of a worker."""
    mpi: str = ""
    """The implementation of MPI."""
    cpu: str = ""
    memory: str = ""
    gpu: str = ""
    queue: str = ""
    """The LocalQueue."""
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_in_pods(self) -> bool:
        """Whether the job needs an image wherever it goes."""
        return family_of(self.backend or None).runs is Runs.PODS

    def amounts(self) -> Json:
        """The resources of one node."""
        return {name: given for key, name in AMOUNTS.items() if (given := getattr(self, key))}

    def resources(self) -> Json:
        """Requests, and limits of memory and of devices."""
        amounts = self.amounts()
        limits = {name: amount for name, amount in amounts.items() if name != "cpu"}
        return {
            **({"requests": amounts} if amounts else {}),
            **({"limits": limits} if limits else {}),
        }

    def metadata(self) -> Json:
        """Name, place and queue."""
        labels = {KUEUE_QUEUE_NAME: self.queue} if self.queue else {}
        return {
            "name": self.name,
            **({"namespace": self.namespace} if self.namespace else {}),
            **({"labels": labels} if labels else {}),
        }

    def variables(self) -> list[Json]:
        """The variables of a container."""
        return [{"name": name, "value": literal(value)} for name, value in self.env.items()]


def words(command: str) -> list[str]:
    """A command as a list; a shell runs what only a shell understands."""
    try:
        return literal_words(words_of(command))
    except ValueError:  # a quotation mark without its other half
        return literal_words([*_SHELL, command])


def written(command: object) -> str:
    """A list as it is typed; the opposite of `words`."""
    parts = [part.replace("$$", "$") for part in strings(command)]
    if len(parts) == len(_SHELL) + 1 and tuple(parts[:-1]) == _SHELL:
        return parts[-1]
    return shlex.join(parts)


def strings(value: object) -> list[str]:
    """The texts of a list, whatever else is in it."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def at(value: Any, *steps: str | int) -> Any:
    """What is there, however malformed the object; None: nothing is."""
    for step in steps:
        match value:
            case dict() if step in value:
                value = value[step]
            case list() if isinstance(step, int) and step < len(value):
                value = value[step]
            case _:
                return None
    return value


def text_at(value: Any, *steps: str | int) -> str:
    """The text or number that is there, as text."""
    found = at(value, *steps)
    is_shown = isinstance(found, str | int | float) and not isinstance(found, bool)
    return str(found) if is_shown else ""


def number_at(value: Any, *steps: str | int) -> int | None:
    """The number that is there."""
    found = at(value, *steps)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def read_resources(resources: Any) -> dict[str, str]:
    """The fields of resources: what is requested, else the limit."""
    return {
        key: text_at(resources, "requests", name) or text_at(resources, "limits", name)
        for key, name in AMOUNTS.items()
    }


def read_variables(entries: Any) -> dict[str, str]:
    """The variables that have a value of their own."""
    return {
        item["name"]: item["value"].replace("$$", "$")
        for item in (entries if isinstance(entries, list) else ())
        if isinstance(at(item, "name"), str) and isinstance(at(item, "value"), str)
    }


def read_metadata(job: Json) -> dict[str, str]:
    """The fields of the metadata."""
    return {
        "name": text_at(job, "metadata", "name"),
        "namespace": text_at(job, "metadata", "namespace"),
        "queue": text_at(job, "metadata", "labels", KUEUE_QUEUE_NAME),
    }


METADATA_PATHS: Final[Sequence[tuple[str, str]]] = (
    ("metadata.name", "name"),
    ("metadata.namespace", "namespace"),
    (f"metadata.labels[{KUEUE_QUEUE_NAME}]", "queue"),
)


def resource_paths(prefix: str) -> Sequence[tuple[str, str]]:
    """Which fields the resources below a path are."""
    paths = [
        (f"{prefix}.{kind}{step}", key)
        for kind in ("requests", "limits")
        for key, step in (("cpu", ".cpu"), ("memory", ".memory"), ("gpu", f"[{NVIDIA_GPU}]"))
    ]
    return [*paths, (prefix, "cpu")]
