"""Why an environment could not be made, as a sentence for the user."""

from __future__ import annotations

import errno
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 400
"""The most characters of what an installer said."""
_FRAME = re.compile("[\u00d7\u2570\u2500\u25b6\u2502\u251c]+")
"""What uv draws around its messages."""
_BEGINNINGS = re.compile("^(error|ERROR)\\b|^\\s*\u00d7")
_PHRASES = re.compile(
    r"No solution found when resolving dependencies:? (cause: )?"
    r"|, we can conclude that your requirements are unsatisfiable"
)
"""What uv says of every such error."""
NO_ROOM = "No space left on device"
"""How the C library, Python, uv and pip call it."""
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]+@")


class EnvironmentFailedError(Exception):
    """There is no environment. The message is for the user."""


def full_disk(folder: str) -> str:
    """What is said of a disk that is full."""
    return (
        f"the disk of {folder} is full; free some space on it (trainway environments prune), or let"
        " TRAINWAY_ENVIRONMENTS name a folder on another disk"
    )


def os_complaint(error: OSError, folder: str) -> str:
    """Why a file of an environment could not be made."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return full_disk(folder)
    complaint, place = f"{error.strerror}: {error.filename}", str(error.filename or "")
    if place and (f"{place}/".startswith(f"{folder}/") or folder.startswith(f"{place}/")):
        complaint += "; let TRAINWAY_ENVIRONMENTS name a folder that can be written"
    return complaint


def complaint(lines: Sequence[str]) -> str:
    """What an installer said went wrong: from its first word of an error on, in one or two lines.

    Pip says several errors, of which the last sums up. Credentials of a URL are not repeated.
    """
    said = [line for line in lines if line.strip()]
    first = next((at for at, line in enumerate(said) if _BEGINNINGS.match(line)), None)
    if first is None:
        chosen = said[-2:]
    elif said[first].startswith("ERROR"):
        last = [line[len("ERROR:") :] for line in said[first:] if line.startswith("ERROR")][-2:]
        chosen = [";".join(last)]
    else:
        chosen = said[first:]
    words = " ".join(_FRAME.sub(" ", line) for line in chosen).split()
    while words and words[0].lower() == "error:":
        words.pop(0)
    text = _CREDENTIALS.sub("***@", _PHRASES.sub("", " ".join(words)))
    return text if len(text) <= LONGEST else text[: LONGEST - 4].rsplit(" ", 1)[0] + " ..."
