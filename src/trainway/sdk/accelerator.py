"""The type of the GPUs of a job, which counts them only, as an annotation. Pure."""

from collections.abc import Sequence

from trainway.jobset.labels import ACCELERATORS
from trainway.json_types import Json
from trainway.sdk.manifests import JOB_KINDS


def of_type(objects: Sequence[Json], kind: str) -> list[Json]:
    """The objects, with the type on the job among them."""
    return [_typed(obj, kind) if obj.get("kind") in JOB_KINDS else obj for obj in objects]


def _typed(job: Json, kind: str) -> Json:
    metadata = job.get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), ACCELERATORS: kind}
    return {**job, "metadata": {**metadata, "annotations": annotations}}
