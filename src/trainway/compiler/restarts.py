"""How often a TrainJob restarts, where the job itself says so and not its runtime.

A runtime retries single pods as Kubernetes does. Whoever runs a script waits for it and wants to
see its error, not six attempts of it. Neither the fields of a TrainJob nor patches of its runtime
can ask for that, so an annotation does, and no job needs a runtime of its own for it.
"""

from collections.abc import Mapping
from typing import Any, Final

from trainway.jobset.labels import MAX_RESTARTS
from trainway.json_types import Json

INITIALIZERS: Final = ("dataset-initializer", "model-initializer")

_MOST: Final = 2**31 - 1


def with_max_restarts(job: Json, restarts: int) -> Json:
    """The TrainJob, saying so."""
    metadata = job.get("metadata") or {}
    said = {**(metadata.get("annotations") or {}), MAX_RESTARTS: str(restarts)}
    return {**job, "metadata": {**metadata, "annotations": said}}


def says_restarts(job: Mapping[str, Any]) -> bool:
    """Whether a TrainJob says how often it restarts."""
    return MAX_RESTARTS in ((job.get("metadata") or {}).get("annotations") or {})


def max_restarts(annotations: Mapping[str, str]) -> int | None:
    """How often a job restarts; None where its runtime decides. ValueError: that is no count."""
    text = annotations.get(MAX_RESTARTS)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(_MOST))):
        raise ValueError(text)
    if int(text) > _MOST:
        raise ValueError(text)
    return int(text)


def fail_fast(spec: Json, restarts: int) -> None:
    """Change the spec of a JobSet so that it retries no single pod, and restarts this often."""
    spec.pop("failurePolicy", None)
    if restarts:
        spec["failurePolicy"] = {"maxRestarts": restarts}
    for role in spec["replicatedJobs"]:
        if role["name"] in INITIALIZERS:  # a download may well succeed the second time
            continue
        job = role["template"].setdefault("spec", {})
        job["backoffLimit"] = 0
        job["template"]["spec"]["restartPolicy"] = "Never"
