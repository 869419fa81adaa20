"""`--notify`: whom to tell how a job goes."""

import click

notify_option = click.option(
    "--notify",
    multiple=True,
    metavar="TARGET",
    help="Tell this target of config.yaml, or this webhook URL, how the job goes.",
)
