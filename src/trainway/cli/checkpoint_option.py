"""`--checkpoint URI`."""

import click

checkpoint_option = click.option(
    "--checkpoint",
    metavar="URI",
    help="A folder of a bucket, such as s3://bucket/run. What the job writes to its output"
    " directory is mirrored there, and a job that is given the same folder begins from it.",
)
