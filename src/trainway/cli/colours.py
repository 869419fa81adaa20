"""Colours of a terminal: of phases, and of the nodes whose logs are merged."""

import os
from collections.abc import Mapping
from typing import IO, Any, Final

GREY: Final = "90"
RED: Final = "31"
GREEN: Final = "32"
YELLOW: Final = "33"
BLUE: Final = "34"
MAGENTA: Final = "35"
CYAN: Final = "36"

NODES: Final = (CYAN, GREEN, YELLOW, MAGENTA, BLUE, "96", "92", "93", "95", "94")
PHASES: Final[Mapping[str, str]] = {
    "Pending": GREY,
    "Queued": YELLOW,
    "Inadmissible": RED,
    "Starting": YELLOW,
    "Running": CYAN,
    "Restarting": YELLOW,
    "Paused": BLUE,
    "Stopping": YELLOW,
    "Succeeded": GREEN,
    "Failed": RED,
    "Cancelled": MAGENTA,
}


def is_colourful(stream: IO[Any]) -> bool:
    """Whether it is a terminal whose user has nothing against colours."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def painted(text: str, colour: str) -> str:
    """The text in that colour."""
    return f"\x1b[{colour}m{text}\x1b[0m"
