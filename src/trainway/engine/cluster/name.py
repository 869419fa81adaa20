"""Names of clusters: those that are taken, made up, or looked for in vain."""

import re
import secrets
from collections.abc import Collection
from typing import Final

from trainway.errors import NotFoundError, UsageError
from trainway.schema.validation import closest

LONGEST: Final = 63

_NAME: Final = re.compile(r"[a-zA-Z]([-_.a-zA-Z0-9]*[a-zA-Z0-9])?", re.ASCII)
_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"


def check_name(name: str, kind: str = "cluster", longest: int = LONGEST) -> str:
    """The name, if a cluster may be called so, or what is named like one."""
    if _NAME.fullmatch(name) and len(name) <= longest:
        return name
    raise UsageError(
        f"a {kind} cannot be called {name[:80]!r}",
        field="name",
        hint="letters, digits, '-', '_' and '.', beginning with a letter and ending with a letter "
        f"or digit; at most {longest} characters",
    )


def generated_name(taken: Collection[str]) -> str:
    """A name that no cluster has."""
    while True:
        name = "cluster-" + "".join(secrets.choice(_LETTERS) for _ in range(5))
        if name not in taken:
            return name


def unknown(name: str, known: Collection[str]) -> NotFoundError:
    """There is no such cluster."""
    meant = closest(name, list(known))
    asked = f'; did you mean "{meant}"?' if meant else ""
    return NotFoundError(
        f"there is no cluster {name!r}{asked}", hint="trainway status shows them all"
    )
