"""`export`: where the output of a job goes when it has succeeded, as an annotation. Pure."""

from collections.abc import Sequence

from trainway.api.export import with_export
from trainway.json_types import Json
from trainway.sdk.manifests import JOB_KINDS

_KINDS = (*JOB_KINDS, "Task")


def exporting(objects: Sequence[Json], uri: str | None) -> list[Json]:
    """The objects, with the URI on the job among them; None: the output stays where it is."""
    if not uri:
        return list(objects)
    return [with_export(obj, uri) if obj.get("kind") in _KINDS else obj for obj in objects]
