"""`trainway jobs note` and `trainway jobs link`."""

import click

from trainway.cli.connection import connect
from trainway.cli.job_options import job_argument
from trainway.cli.output import echo


@click.command("note")
@job_argument
@click.argument("text")
def note(ref: str, text: str) -> None:
    """Write a note on a job; an empty TEXT removes it.

    jobs show prints it. A job that has ended can have one, too.
    """
    from trainway.sdk.job_remarks import write  # noqa: PLC0415 - other commands do without

    job = write(connect(), ref, {"note": text})
    echo(f"{job['metadata']['name']} {'noted' if text else 'has no note any more'}\n")


@click.command("link")
@job_argument
@click.argument("link", metavar="LINK")
@click.argument("url", required=False)
@click.option("--remove", is_flag=True, help="Remove the link.")
def link(ref: str, link: str, url: str | None, *, remove: bool) -> None:
    """Write a link with the name LINK on a job, such as wandb https://wandb.ai/team/run/1.

    jobs show prints it. A link of that name is replaced.
    """
    from trainway.sdk.job_remarks import write  # noqa: PLC0415 - other commands do without

    if (url is None) != remove:
        raise click.UsageError("give a URL or --remove", click.get_current_context())
    job = write(connect(), ref, {"links": {link: url}})
    name = job["metadata"]["name"]
    echo(f"{name} {'unlinked' if remove else 'linked'}: {link}\n")
