"""An object as the API server has it, in the typed form that a controller works with.

It may have come past the webhook, so all of its rules are checked here again.
"""

from collections.abc import Callable
from typing import TypeVar

from trainway.api.kinds import check, read
from trainway.api.model import Resource
from trainway.json_types import Json
from trainway.schema.field import FieldError

R = TypeVar("R", bound=Resource)


def parse(
    obj: Json, model: type[R], validate: Callable[[R], list[FieldError]]
) -> tuple[R | None, list[FieldError]]:
    """The object with all defaults, or what is wrong with it."""
    bare: Json = {name: part for name, part in obj.items() if name != "status"}
    errors = check(bare).errors
    if errors:
        return None, errors
    found = read(bare)
    if not isinstance(found, model):
        raise TypeError(f"{obj['kind']} is not of the kind {model.__name__}")
    errors = validate(found)
    return (None, errors) if errors else (found, [])
