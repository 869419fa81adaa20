"""The vocabulary of a structural schema, as a CustomResourceDefinition has it.

A `Schema` says what one value may be. Schemas of the Kubernetes core types are shared objects, so a
pod template is described once however often it occurs. `merge` and `merge_key` are not part of a
CRD: they say how a strategic merge patch treats a list.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainway.schema.field import ABSENT


@dataclass(frozen=True, slots=True)
class Rule:
    """A CEL rule together with the function that decides it offline.

    `check` gets the value and its former value and says whether the rule holds. A transition rule,
    one that mentions `oldSelf`, is asked only where there is a former value.
    """

    cel: str
    message: str
    check: Callable[[Any, Any], bool]

    @property
    def is_transition(self) -> bool:
        """Whether the rule compares with the former value."""
        return "oldSelf" in self.cel


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """What one value may be."""

    type: str = ""
    """The JSON type: object, array, string, integer, number or boolean; empty stands for
    anything."""
    format: str = ""
    description: str = ""
    properties: Mapping[str, "Schema"] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    additional: "Schema | None" = None
    """The values of a map with free keys."""
    items: "Schema | None" = None
    default: Any = ABSENT
    enum: tuple[Any, ...] = ()
    pattern: str = ""
    minimum: int | None = None
    maximum: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    min_properties: int | None = None
    list_type: str = ""
    """The kind of a list: atomic, set or map."""
    list_map_keys: tuple[str, ...] = ()
    map_type: str = ""
    int_or_string: bool = False
    open: bool = False
    """Whether a field that is not known is kept and warned of: newer versions of Kubernetes may
    have it."""
    preserve_unknown: bool = False
    """Whether unknown fields are kept without a word."""
    rules: tuple[Rule, ...] = ()
    merge: str = ""
    """What a strategic merge patch does with a list or a map here: `merge`, or empty."""
    merge_key: str = ""
