"""What a type says about a field beyond its Python type, as marks inside `Annotated`.

Limits are those of `annotated_types` (Ge, Le, MinLen, MaxLen); here stand the ones Kubernetes adds.
`derivation` reads them all.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import MaxLen, MinLen

from trainway.json_types import Json
from trainway.schema.structural import Rule, Schema


@dataclass(frozen=True, eq=False)
class Mark:
    """What the schema of the field says besides."""

    changes: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Rules:
    """Rules (CEL) on the value of one field."""

    rules: tuple[Rule, ...]

    def __init__(self, *rules: Rule) -> None:
        object.__setattr__(self, "rules", rules)


@dataclass(frozen=True, eq=False)
class Kube:
    """The field has the schema of this Kubernetes core type."""

    name: str


@dataclass(frozen=True, eq=False)
class Shaped:
    """The field has the schema of this model, or this schema, though it is read as plain data."""

    by: "type | Schema"


ATOMIC = Mark({"list_type": "atomic"})
"""A list that changes as a whole."""
SET = Mark({"list_type": "set"})
"""A list in which no item stands twice."""


def map_by(*keys: str) -> Mark:
    """A list whose items are told apart by these fields."""
    return Mark({"list_type": "map", "list_map_keys": keys})


def pattern(text: str) -> Mark:
    """A string that matches this regular expression."""
    return Mark({"pattern": text})


def crd_default(value: dict[str, Any]) -> Mark:
    """A default of the CRD that is more than a plain value."""
    return Mark({"default": value})


Int32 = Annotated[int, Mark({"format": "int32"})]
Int64 = Annotated[int, Mark({"format": "int64"})]
Time = Annotated[str, Mark({"format": "date-time"})]

ObjectName = Annotated[str, MinLen(1), MaxLen(253)]
"""A name of something else in the cluster or in the same object."""

EnvVars = Annotated[list[Annotated[Json, Kube("EnvVar")]], map_by("name"), MaxLen(128)]
"""Environment variables, in order, each name once."""
