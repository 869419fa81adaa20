"""`--metrics-from-logs [REGEX]`: an option whose value may be missing."""

from collections.abc import Iterable, Iterator
from typing import Final

import click

_NAME: Final = "--metrics-from-logs"
_GROUP: Final = "(?P<"
"""What every pattern has, and hardly any file or program in its name."""

metrics_option = click.option(
    _NAME,
    metavar="[REGEX]",
    help="Make metrics of what rank 0 prints: pairs such as loss: 0.31, or the named groups of a "
    "regular expression.",
)


def with_value(words: Iterable[str]) -> Iterator[str]:
    """The words as click reads them: with the pattern, or with none if what follows is not one."""
    pending = False
    for word in words:
        if pending:
            pending = False
            yield f"{_NAME}={word if _GROUP in word else ''}"
            if _GROUP in word:
                continue
        if word == _NAME:
            pending = True
        else:
            yield word
    if pending:
        yield f"{_NAME}="
