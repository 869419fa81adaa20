"""Objects of the published kubeflow SDK, taken for our own of the same name.

A notebook may build its trainer, options and initializers with `kubeflow.trainer` and only change
the client. Both packages have the same data classes with the same fields, so one becomes the other
field by field. The published package is never imported here.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Final

from trainway.sdk.kubeflow import options
from trainway.sdk.kubeflow.types import optimizer, types

_PUBLISHER: Final = "kubeflow."


def adopted(value: Any) -> Any:
    """The value as ours where it is the published package's; any other as it is."""
    if isinstance(value, list | tuple | set):
        return type(value)(adopted(item) for item in value)
    if not type(value).__module__.startswith(_PUBLISHER):
        return value
    ours = _ours().get(type(value).__name__)
    if ours is None:
        return value
    if isinstance(value, Enum):
        return ours[value.name]
    names = [item.name for item in fields(ours) if item.init]
    made = ours(**{name: adopted(getattr(value, name)) for name in names if hasattr(value, name)})
    if isinstance(made, types.RuntimeTrainer):
        made.set_command(tuple(value.command))
    return made


@cache
def _ours() -> Mapping[str, Any]:
    """Our data classes and choices, by name."""
    found = {**vars(types), **vars(options), **vars(optimizer)}
    return {
        name: kind
        for name, kind in found.items()
        if isinstance(kind, type) and (is_dataclass(kind) or issubclass(kind, Enum))
    }
