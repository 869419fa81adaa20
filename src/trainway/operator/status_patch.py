"""The request that writes a status: a JSON merge patch of what changed.

It names the version of the object that the status was derived from, so that one derived from an
old state is refused, not written.
"""

from trainway.json_types import Json


def status_patch(obj: Json, status: Json) -> Json | None:
    """The patch that gives the object this status; None: it has it."""
    old = obj.get("status") or {}
    if old == status:
        return None
    version = obj["metadata"]["resourceVersion"]
    return {"metadata": {"resourceVersion": version}, "status": _difference(old, status)}


def _difference(old: Json, new: Json) -> Json:
    patch: Json = {name: None for name in old if name not in new}
    for name, value in new.items():
        former = old.get(name)
        if isinstance(former, dict) and isinstance(value, dict):
            if change := _difference(former, value):
                patch[name] = change
        elif name not in old or former != value:
            patch[name] = value
    return patch
