"""Fills in what an object leaves out, as the API server does before anyone sees the object.

Null fields are dropped, then defaults are set wherever their parent is there. Core Kubernetes types
are left alone, so pod templates stay as their author wrote them.
"""

import copy
from typing import Any

from trainway.schema.field import ABSENT
from trainway.schema.structural import Schema


def with_defaults(schema: Schema, value: Any) -> Any:
    """A copy of the value with nulls dropped and defaults filled in, be it valid or not."""
    if isinstance(value, dict):
        filled = {
            name: with_defaults(schema.properties.get(name, schema.additional or _ANY), item)
            for name, item in value.items()
            if item is not None
        }
        for name, inner in schema.properties.items():
            if name not in filled and inner.default is not ABSENT and not schema.open:
                filled[name] = with_defaults(inner, copy.deepcopy(inner.default))
        return filled
    if isinstance(value, list):
        return [with_defaults(schema.items or _ANY, item) for item in value]
    if schema.type == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


_ANY = Schema()
