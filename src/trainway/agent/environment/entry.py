"""`environment make|ls|prune`: what an agent, or somebody who looks after a host, starts."""

from __future__ import annotations

import json
import os

from trainway.agent.environment.failure import EnvironmentFailedError
from trainway.agent.environment.make import UNUSED_DAYS, run, size_limit
from trainway.agent.environment.shelf import Shelf, folder_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainway.agent.environment.shelf import Entry
    from trainway.json_types import Json

USAGE = "usage: environment make REQUIREMENTS RESULT | ls | prune [--all]"
EXIT_USAGE = 2


def main(arguments: Sequence[str]) -> int:
    """Do what is asked; the exit status."""
    action, rest = (arguments[0] if arguments else ""), list(arguments[1:])
    if action == "make" and len(rest) == 2:
        return run(rest[0], rest[1], os.environ)
    shelf = Shelf(folder_of(os.environ))
    if action == "ls" and not rest:
        _say([_told(shelf, entry) for entry in shelf.entries()])
        return 0
    if action == "prune" and rest in ([], ["--all"]):
        try:
            limit, days = (-1, 0.0) if rest else (size_limit(os.environ), UNUSED_DAYS)
        except EnvironmentFailedError as error:
            os.write(2, f"{error}\n".encode())
            return EXIT_USAGE
        _say([_told(shelf, entry) for entry in shelf.prune(limit, days)])
        return 0
    os.write(2, USAGE.encode() + b"\n")
    return EXIT_USAGE


def _told(shelf: Shelf, entry: Entry) -> Json:
    return {
        **entry.facts,
        "key": entry.key,
        "path": shelf.path(entry.key),
        "used": entry.used,
        "inUse": not shelf.is_free(entry.key),
    }


def _say(entries: list[Json]) -> None:
    print(json.dumps(entries))  # noqa: T201 - what was asked for
