"""What Kubernetes takes as the key and the value of a label, checked before anything is sent. Pure.

A key may have a prefix, which is a DNS subdomain: `team`, `example.com/team`.
"""

import re
from typing import Final

from trainway.jobset.labels import TRAINWAY_PREFIX

_LONGEST: Final = 63
_LONGEST_PREFIX: Final = 253
_WORD: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?", re.ASCII)
_SUBDOMAIN: Final = re.compile(
    r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII
)
_LETTERS: Final = (
    f"at most {_LONGEST} letters, digits, -, _ and ., and begins and ends with a letter or a digit"
)


def key_problem(key: str) -> str | None:
    """What is wrong with the key of a label; None: nothing."""
    prefix, has_prefix, name = key.rpartition("/")
    if has_prefix and not (len(prefix) <= _LONGEST_PREFIX and _SUBDOMAIN.fullmatch(prefix)):
        return f"the prefix of the key {key!r} is not a domain such as example.com"
    if not _is_word(name):
        return f"the key {key!r} is not valid: it has {_LETTERS}"
    return None


def value_problem(value: str) -> str | None:
    """What is wrong with the value of a label, which may be empty; None: nothing."""
    if value and not _is_word(value):
        return f"the value {value!r} is not valid: it has {_LETTERS}"
    return None


def label_problem(key: str, value: str) -> str | None:
    """What is wrong with a label that somebody wants to give; None: nothing."""
    if key.startswith(TRAINWAY_PREFIX):
        return f"the key {key!r} is reserved: Trainway itself sets labels under {TRAINWAY_PREFIX}"
    return key_problem(key) or value_problem(value)


def _is_word(text: str) -> bool:
    return len(text) <= _LONGEST and _WORD.fullmatch(text) is not None
