"""Schemas of the Kubernetes core types that pod templates and job templates are made of.

`kubernetes_types` holds the facts, generated from what Kubernetes publishes, one specification per
field; here they become schemas, each type once and only when it is asked for. A specification is a
type, then what else is known of the field:

    string, boolean, int32, int64, date-time   a plain value
    Quantity, IntOrString                      a number or a string
    object                                     anything with fields
    Container                                  another type of the table
    [T], {T}                                   a list of T; a map with free keys and values T
    required                                   the field must be there
    atomic, granular                           how server-side apply sees the list or the map
    set                                        no item stands twice
    map=a,b                                    items are told apart by the fields a and b, and a
                                               strategic merge patch merges the list by a
    merge, merge=k, replace                    what such a patch does instead: unite plain values,
                                               merge by k, replace the list
    default=v                                  what a map key counts as when it is absent

These types are open: a field we do not know may be that of a newer Kubernetes. They have no other
defaults, and those of map keys only tell items apart, so a pod template stays as it was written.

`Condition` is written out here: only custom resources have it, with limits the table has no words
for.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from trainway.schema.kubernetes_types import ATOMIC_TYPES, TYPES
from trainway.schema.structural import Schema

QUANTITY_PATTERN = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)

_SCALARS = {
    "boolean": Schema(type="boolean"),
    "date-time": Schema(type="string", format="date-time"),
    "int32": Schema(type="integer", format="int32"),
    "int64": Schema(type="integer", format="int64"),
    "object": Schema(type="object", preserve_unknown=True),
    "string": Schema(type="string"),
    "IntOrString": Schema(int_or_string=True),
    "Quantity": Schema(int_or_string=True, pattern=QUANTITY_PATTERN),
}

_CONDITION = Schema(
    type="object",
    properties={
        "lastTransitionTime": _SCALARS["date-time"],
        "message": Schema(type="string", max_length=32768),
        "observedGeneration": Schema(type="integer", format="int64", minimum=0),
        "reason": Schema(
            type="string",
            min_length=1,
            max_length=1024,
            pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
        ),
        "status": Schema(type="string", enum=("True", "False", "Unknown")),
        "type": Schema(
            type="string",
            max_length=316,
            pattern=r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
            r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
        ),
    },
    required=("lastTransitionTime", "message", "reason", "status", "type"),
)

_WRITTEN_OUT = {**_SCALARS, "Condition": _CONDITION}


@cache
def kube(name: str) -> Schema:
    """The schema of a core type, the same object each time. KeyError: there is no such type."""
    if name in _WRITTEN_OUT:
        return _WRITTEN_OUT[name]
    fields = TYPES[name]
    return Schema(
        type="object",
        properties={field: _field(specification) for field, specification in fields.items()},
        required=tuple(field for field, text in fields.items() if "required" in text.split()),
        map_type="atomic" if name in ATOMIC_TYPES else "",
        open=True,
    )


@cache
def _field(specification: str) -> Schema:
    type_word, *words = specification.split()
    marks = dict(_marks(type_word, words))
    if type_word.startswith("["):
        return Schema(type="array", items=_field(type_word[1:-1]), **marks)
    if type_word.startswith("{"):
        return Schema(type="object", additional=_field(type_word[1:-1]), **marks)
    if marks:
        return Schema(type=kube(type_word).type, **marks)
    return kube(type_word)


def _marks(type_word: str, words: list[str]) -> Iterator[tuple[str, Any]]:
    """What the words after the type say, as arguments of Schema."""
    for word in words:
        name, _, value = word.partition("=")
        match name:
            case "atomic" | "granular" if type_word.startswith("{"):
                yield "map_type", name
            case "atomic" | "set":
                yield "list_type", name
            case "map":
                keys = tuple(value.split(","))
                yield "list_type", "map"
                yield "list_map_keys", keys
                yield "merge", "merge"
                yield "merge_key", keys[0]
            case "merge":
                yield "merge", "merge"
                yield "merge_key", value
            case "replace":
                yield "merge", ""
                yield "merge_key", ""
            case "default":
                yield "default", value
