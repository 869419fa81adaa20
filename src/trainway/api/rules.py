"""Rules that more than one kind has: the CEL text for a cluster, the function for us."""

import re
from typing import Any

from trainway.schema.structural import Rule

_DNS_LABEL = "^[a-z]([-a-z0-9]*[a-z0-9])?$"
_SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"


def matches(text: str, pattern: str) -> bool:
    """What `text.matches(pattern)` is in CEL, where `$` is the very end of the text."""
    return re.search(pattern.removesuffix("$") + r"\Z", text, re.ASCII) is not None


def immutable(message: str = "field is immutable") -> Rule:
    """The value cannot change once it is there."""
    return Rule("self == oldSelf", message, lambda value, old: bool(value == old))


IMMUTABLE = immutable()


def at_least_one(message: str) -> Rule:
    """A number that is 1 or more, with a message of its own."""
    return Rule("self >= 1", message, lambda value, _old: value >= 1)


def exactly_one_of(*fields: str) -> Rule:
    """A union: one member, and only one."""
    members = ",".join(f"has(self.{field})" for field in fields)
    return Rule(
        f"[{members}].filter(x,x==true).size() == 1",
        f"exactly one of the fields in [{' '.join(fields)}] must be set",
        lambda value, _old: count_given(value, fields) == 1,
    )


def count_given(value: dict[str, Any], fields: tuple[str, ...]) -> int:
    """How many of the fields are there."""
    return sum(value.get(field) is not None for field in fields)


NAME_IS_LABEL = Rule(
    f"self.metadata.name.matches('{_DNS_LABEL}')",
    "metadata.name must match RFC 1035 DNS label format",
    lambda name, _old: matches(name, _DNS_LABEL),
)
NAME_FITS_LABEL = Rule(
    "size(self.metadata.name) <= 63",
    "metadata.name must be no more than 63 characters",
    lambda name, _old: len(name) <= 63,
)
NAME_IS_SUBDOMAIN = Rule(
    "",  # the API server has this rule for every object
    "must be an RFC 1123 subdomain: at most 253 lower case letters, digits, '-' and '.',"
    " with a letter or digit at each end of each part",
    lambda name, _old: len(name) <= 253 and matches(name, _SUBDOMAIN),
)
