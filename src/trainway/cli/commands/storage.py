"""`trainway storage`: the buckets that tasks have named."""

import sys
from typing import Final

import click

from trainway.cli.colours import is_colourful
from trainway.cli.columns import Columns
from trainway.cli.connection import connect
from trainway.cli.job_options import output_option
from trainway.cli.job_text import painter
from trainway.cli.output import echo, to_json_list, to_yaml
from trainway.errors import UsageError
from trainway.sdk.storage_rest import StorageRest

_FORGOTTEN: Final = "is no longer listed; it was there before its job, and stays"
_HEADER: Final = ("NAME", "STORE", "JOB", "UPDATED", "STATUS")


@click.group("storage")
def command() -> None:
    """Buckets that tasks have named in file_mounts, and that were made for them.

    Buckets are made and removed with your own credentials; trainway data works with any bucket.
    """


@command.command("ls")
@output_option(("table", "json", "yaml", "name"))
def list_buckets(output: str) -> None:
    """List them."""
    found = _connected().buckets()
    if output == "json":
        echo(to_json_list(found))
    elif output == "yaml":
        echo(to_yaml(found))
    elif output == "name":
        echo("".join(f"{bucket['name']}\n" for bucket in found))
    else:
        fields = ("name", "store", "job", "updated", "state")
        rows = [[str(bucket[field]) for field in fields] for bucket in found]
        paint = painter(colourful=is_colourful(sys.stdout))
        echo(Columns(_HEADER, paint).table(rows))


@command.command("delete")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("-a", "--all", "is_all", is_flag=True, help="Delete all of them.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask first.")
def delete_buckets(names: tuple[str, ...], is_all: bool, yes: bool) -> None:
    """Delete buckets and everything in them. One that was there before its job stays."""
    from trainway.sdk.buckets import chosen, delete  # noqa: PLC0415 - only to delete

    if bool(names) == is_all:
        raise UsageError("name the buckets, or give --all", hint="trainway storage ls lists them")
    rest = _connected()
    known = rest.buckets()
    buckets = known if is_all else chosen(known, names)
    if not buckets:
        return
    listed = ", ".join(str(bucket["uri"]) for bucket in buckets)
    if not yes:
        click.confirm(f"Delete {listed} with everything in it?", abort=True, err=True)
    for bucket in buckets:
        is_gone = delete(rest, bucket)
        echo(f"{bucket['uri']} {'deleted' if is_gone else _FORGOTTEN}\n")


def _connected() -> StorageRest:
    return StorageRest(connect().transport)
