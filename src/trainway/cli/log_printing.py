"""The log of a job on the terminal, for every command that prints one."""

import sys
from typing import Final

from trainway.cli.colours import is_colourful
from trainway.cli.log_text import LogText, batches
from trainway.cli.output import echo
from trainway.cli.waiting import tell_why_it_waits, told_if_refused
from trainway.sdk.rest import LogQuery, Rest

_BATCH: Final = 500


def print_logs(rest: Rest, ref: str, query: LogQuery, *, prefix: bool = True) -> None:
    """Print the lines that are asked for; `prefix` puts the name of the node before each."""
    text = LogText(colourful=is_colourful(sys.stdout), prefix=prefix)
    if query.follow:
        tell_why_it_waits(rest, ref)
    found = batches(rest.logs(ref, query), 1 if query.follow else _BATCH)
    for batch in told_if_refused(rest, ref, found):
        echo(text.lines(batch))
    echo(text.rest())
