"""From what the API server sends to a typed object, once.

The CRD has judged and defaulted the object before a validating webhook sees it, so the schema is
not walked again. Only where the object does not fit our types (its CRD may be upstream's, of
another version) does the schema say in its own words what is wrong.
"""

from typing import TypeVar

from pydantic import ValidationError

from trainway.api.kinds import KINDS, check, read
from trainway.api.model import Resource
from trainway.jobset.quantity import quantity_errors
from trainway.json_types import Json
from trainway.schema.field import FieldError, invalid

R = TypeVar("R", bound=Resource)


def parsed(obj: Json, model: type[R]) -> R | list[FieldError]:
    """The object, or what is wrong with it."""
    errors = list(quantity_errors(KINDS[obj["apiVersion"], obj["kind"]].schema(), obj))
    if errors:
        return errors
    try:
        resource = read(obj)
    except ValidationError as error:
        return check(obj).errors or [_unexpected(error)]
    if not isinstance(resource, model):
        return [invalid(("kind",), obj["kind"], f"must be {model.__name__}")]
    return resource


def _unexpected(error: ValidationError) -> FieldError:
    first = error.errors(include_url=False, include_context=False)[0]
    return invalid(first["loc"], first["input"], first["msg"])
