"""Fine-tunes as the API shows them: what a job of `trainway finetune` was asked to do. Pure.

The words of its program say it, and its initializers where model and data come from.
"""

from collections.abc import Iterator
from typing import Final

from trainway.jobset.labels import FINETUNE
from trainway.json_types import Json

_DEFAULT_METHOD: Final = "lora"


def finetune_view(job: Json) -> Json:
    """A fine-tune in a few words."""
    (source, words) = _asked(job)
    sources = source.get("initializer") or {}
    status, metadata = job["status"], job["metadata"]
    export = status.get("export") or {}
    return {
        "id": metadata["id"],
        "name": metadata["name"],
        "created": metadata["creationTimestamp"],
        "task": (metadata.get("labels") or {}).get(FINETUNE, ""),
        "method": words.get("method", _DEFAULT_METHOD),
        "model": _uri(sources, "model") or words.get("model", ""),
        "dataset": _uri(sources, "dataset") or words.get("dataset", ""),
        "backend": job["spec"]["backend"],
        "phase": status["phase"],
        "message": (status.get("failure") or {}).get("summary") or status["message"],
        "startTime": status["startTime"],
        "completionTime": status["completionTime"],
        "progress": status["progress"],
        "output": export.get("uri") or words.get("output") or status.get("outputDir") or "",
        "exportState": export.get("state"),
        "exportMessage": export.get("message"),
    }


def _asked(job: Json) -> tuple[Json, dict[str, str]]:
    """The spec of its TrainJob, and the words of its program as settings."""
    for each in job["spec"].get("objects") or ():
        if each.get("kind") == "TrainJob":
            spec: Json = each.get("spec") or {}
            return spec, dict(_pairs(spec))
    return {}, {}


def _pairs(spec: Json) -> Iterator[tuple[str, str]]:
    args = (spec.get("trainer") or {}).get("args")
    for word in args if isinstance(args, list) else ():
        name, equals, value = str(word).partition("=")
        if equals:
            yield name, value


def _uri(sources: Json, kind: str) -> str:
    return str((sources.get(kind) or {}).get("storageUri") or "")
