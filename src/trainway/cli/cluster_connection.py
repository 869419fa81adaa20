"""The server as cluster commands reach it, and which clusters their arguments mean."""

import sys
from collections.abc import Sequence

from trainway.cli.output import echo_line
from trainway.cli.upload_view import UploadView
from trainway.errors import NotFoundError, UsageError
from trainway.json_types import Json
from trainway.sdk.cluster_rest import ClusterRest


def connect() -> ClusterRest:
    """The server of the environment, or the embedded one, which is started if need be."""
    rest = ClusterRest.connect(warn=lambda message: echo_line(f"warning: {message}"))
    rest.on_upload = UploadView().show
    return rest


def chosen(
    rest: ClusterRest, names: Sequence[str], *, every: bool = False, refresh: bool = False
) -> list[Json]:
    """The clusters of these names or patterns, or all; one that is not there is an error."""
    known = rest.clusters(refresh=refresh)
    if every:
        if names:
            raise UsageError("--all cannot be combined with names")
        return known
    found: dict[str, Json] = {}
    for name in names:
        matching = _matching(name, known)
        if not matching:
            raise missing(name, [str(item["metadata"]["name"]) for item in known])
        found |= {item["metadata"]["name"]: item for item in matching}
    return list(found.values())


def missing(name: str, known: Sequence[str]) -> NotFoundError:
    """There is no cluster of that name."""
    asked = closest_name(name, known)
    return NotFoundError(
        f"there is no cluster {name!r}{asked}", hint="trainway status shows them all"
    )


def closest_name(name: str, known: Sequence[str]) -> str:
    """The question whether another name was meant; empty where none is like it."""
    from trainway.schema.validation import closest  # noqa: PLC0415 - slow, for a typo alone

    meant = closest(name, known)
    return f'; did you mean "{meant}"?' if meant else ""


def confirm(question: str, *, yes: bool) -> bool:
    """Whether it is meant; without a terminal to ask at, -y must say so."""
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            "this command asks for confirmation, and there is no terminal",
            hint="use -y to confirm in advance",
        )
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _matching(name: str, known: Sequence[Json]) -> list[Json]:
    exact = [item for item in known if item["metadata"]["name"] == name]
    if exact or not any(sign in name for sign in "*?["):
        return exact
    from fnmatch import fnmatchcase  # noqa: PLC0415 - only for patterns

    return [item for item in known if fnmatchcase(item["metadata"]["name"], name)]
