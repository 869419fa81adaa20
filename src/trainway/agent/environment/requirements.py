"""The packages that a job asks for, as the lines of a requirements file. Pure."""

from __future__ import annotations

import hashlib
import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PLAIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:==\s*([A-Za-z0-9.+!_-]+))?")
"""A name, maybe with one version: all that can be looked up without knowing more of versions."""
INDEX_VARIABLES = (
    "UV_INDEX",
    "UV_DEFAULT_INDEX",
    "UV_INDEX_URL",
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
)
"""The variables that say where packages come from."""
SHOWN = 3
KEY_LENGTH = 20
FORMAT = 1
"""How environments are made; those that were made in another way are not used."""


class Requirements:
    """What a requirements file says, without comments and empty lines."""

    def __init__(self, text: str) -> None:
        lines = [re.sub(r"(^|\s)#.*", "", line).strip() for line in text.splitlines()]
        self.lines = [line for line in lines if line]

    @property
    def packages(self) -> list[str]:
        """The lines that name something to install."""
        return [line for line in self.lines if not line.startswith("-")]

    @property
    def plain(self) -> list[tuple[str, str]] | None:
        """Names and versions, where every line has only these; None: some line says more."""
        found = [PLAIN.fullmatch(line) for line in self.lines]
        pairs = [(match.group(1), match.group(2) or "") for match in found if match]
        return pairs if len(pairs) == len(self.lines) else None

    def summary(self) -> str:
        """The packages in a few words."""
        names = self.packages
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        return ", ".join(names[:SHOWN]) + more

    @property
    def paths(self) -> list[str]:
        """The files of this machine that it names."""
        words = [word for line in self.lines for word in line.split()]
        places = [word[len("file://") :] if word.startswith("file://") else word for word in words]
        return [place for place in places if place.startswith("/")]


def key_of(
    requirements: Requirements,
    python: Mapping[str, str],
    environ: Mapping[str, str],
    files: Mapping[str, str],
) -> str:
    """The name of the environment: the same for all that would have the same content.

    `files` tells the versions of the files that the requirements name.
    """
    indexes = {name: environ[name] for name in INDEX_VARIABLES if environ.get(name)}
    options = [line for line in requirements.lines if line.startswith("-")]
    content = [FORMAT, sorted(requirements.packages), options, dict(python), indexes, dict(files)]
    text = json.dumps(content, sort_keys=True).encode("utf-8", "surrogateescape")
    return hashlib.sha256(text).hexdigest()[:KEY_LENGTH]
