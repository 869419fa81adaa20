"""The key of a cloud that knows its users by one, where its own tools look for it."""

import os
from collections.abc import Collection
from pathlib import Path

from trainway.providers.errors import ProviderError
from trainway.providers.meanings import CREDENTIALS


def api_key(
    cloud: str, variable: str, file: Path, names: Collection[str], remedy: str
) -> tuple[str, str]:
    """The key, and where it was found: in a variable, or in a line `NAME = KEY` of a file at home.

    `remedy`: how one gets the file.
    """
    if key := os.environ.get(variable):
        return key, variable
    path = Path.home() / file
    lines = path.read_text(errors="replace").splitlines() if path.is_file() else []
    for line in lines:
        name, _, value = line.partition("=")
        if name.strip() in names and value.strip(" \"'"):
            return value.strip(" \"'"), f"~/{file}"
    raise ProviderError(
        f"{cloud}: there is no API key",
        trouble=CREDENTIALS.trouble,
        scope=CREDENTIALS.scope,
        hint=f"set {variable}, or {remedy}",
    )
