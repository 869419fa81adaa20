"""`--hang-timeout`: how long a job may be silent."""

import click

from trainway.cli.times import parse_duration


def _seconds(_context: click.Context, _option: click.Parameter, text: str | None) -> float | None:
    return None if text is None else parse_duration(text)


hang_option = click.option(
    "--hang-timeout",
    metavar="TIME",
    callback=_seconds,
    help="Take the stacks of a job that neither reports nor writes logs for this long, such as "
    "30m, and end the node that hangs; --restarts says whether the job starts again.",
)
