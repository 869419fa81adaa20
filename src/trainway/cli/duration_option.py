"""Options with a duration: what is wrong with one is said before anything is asked or sent."""

import click

from trainway.cli.times import parse_duration
from trainway.errors import UsageError


def duration(context: click.Context, option: click.Parameter, text: str | None) -> float | None:
    """The seconds of an option; its name stands before what is wrong with them."""
    if text is None:
        return None
    try:
        return parse_duration(text)
    except UsageError as error:
        raise click.BadParameter(f"{error.message}; {error.hint}", context, option) from None


def checked_duration(
    context: click.Context, option: click.Parameter, text: str | None
) -> str | None:
    """The text of an option, of which a duration can be read."""
    duration(context, option, text)
    return text
