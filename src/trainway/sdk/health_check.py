"""`health_check`: that the nodes of a job are checked before it starts, as an annotation. Pure."""

from collections.abc import Sequence

from trainway.api.health_check import with_health_check
from trainway.json_types import Json
from trainway.sdk.manifests import JOB_KINDS

_KINDS = (*JOB_KINDS, "Task")


def checked(objects: Sequence[Json], said: str = "true") -> list[Json]:
    """The objects, with that wish on the job among them."""
    return [with_health_check(obj, said) if obj.get("kind") in _KINDS else obj for obj in objects]
