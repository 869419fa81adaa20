"""`--hang-timeout`: how long a job may be silent."""

import click

from trainway.cli.duration_option import duration

hang_option = click.option(
    "--hang-timeout",
    metavar="TIME",
    callback=duration,
    help="Take the stacks of a job that neither reports nor writes logs for this long, such as "
    "30m, and end the node that hangs; --restarts says whether the job starts again.",
)
