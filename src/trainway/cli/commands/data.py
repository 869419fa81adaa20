"""`trainway data`: look at, copy and remove files wherever they are; no server is needed."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

import click

from trainway.cli.columns import Columns
from trainway.cli.job_options import output_option
from trainway.cli.output import echo, echo_line, to_json

Command = Callable[..., Any]
_GROUP: Final = """Copy, list, measure and remove files of buckets, of the hub and of this machine.

\b
s3://BUCKET/KEY  gs://BUCKET/KEY  az://CONTAINER/KEY  r2://BUCKET/KEY
hf://OWNER/MODEL[@REVISION][/PATH]  hf://datasets/OWNER/NAME
https://HOST/PATH  file:///PATH, or only a path

Credentials come from where the tools of each store look for them: variables, profiles, the role of
the instance.
"""
_COPY: Final = """Copy a file, or all files below a folder.

\b
trainway data copy s3://bucket/train ./train
trainway data copy hf://org/model ./model --include '*.safetensors' --include '*.json'
trainway data copy ./output s3://bucket/run-7

A file has its name when it is whole. If the command is killed, give it again: only what is missing
is fetched. Files that are there already in the same version are left alone.
"""


@click.group("data", help=_GROUP)
def command() -> None:
    """The group; its help is above."""


def _pattern_options(command: Command) -> Command:
    include = click.option(
        "--include", metavar="PATTERN", multiple=True,
        help="Only files whose names match, such as '*.json' or 'train/'. May be given several"
        " times.",
    )  # fmt: skip
    ignore = click.option(
        "--ignore", "--exclude", "ignore", metavar="PATTERN", multiple=True,
        help="No files whose names match. May be given several times.",
    )  # fmt: skip
    return include(ignore(command))


@command.command("copy", help=_COPY)
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET")
@_pattern_options
@click.option(
    "--cached",
    is_flag=True,
    help="Keep what is fetched in the cache of this machine, and fetch nothing that is in it.",
)
@output_option(("text", "json"))
def copy_files(
    source: str,
    target: str,
    include: tuple[str, ...],
    ignore: tuple[str, ...],
    cached: bool,
    output: str,
) -> None:
    """Copy a file, or all files below a folder."""
    from trainway.cli.upload_view import UploadView, Wording  # noqa: PLC0415 - only to copy
    from trainway.data.cache import user_cache  # noqa: PLC0415 - only to copy
    from trainway.data.copying import copy  # noqa: PLC0415 - only to copy
    from trainway.data.disk import in_words  # noqa: PLC0415 - only to copy
    from trainway.data.patterns import Patterns  # noqa: PLC0415 - only to copy
    from trainway.data.transfer import Options  # noqa: PLC0415 - only to copy

    view = UploadView(wording=Wording("copying {size} MB", "{sent} of {size} MB copied"))
    cache = user_cache(os.environ) if cached else None
    options = Options(progress=view.show, say=echo_line)
    done = copy(source, target, Patterns(include, ignore), options, cache)
    if output == "json":
        echo(
            to_json(
                {
                    "files": done.files,
                    "bytes": done.size,
                    "transferredBytes": done.fetched,
                    "unchangedFiles": done.present,
                }
            )
        )
        return
    same = f"; {done.present} unchanged" if done.present else ""
    files = "1 file" if done.files == 1 else f"{done.files} files"
    echo(f"{files}, {in_words(done.size)}{same}\n")


@command.command("ls")
@click.argument("uri", metavar="URI")
@click.option("-r", "--recursive", is_flag=True, help="All files, however deep.")
@_pattern_options
@output_option(("table", "json", "name"))
def ls(
    uri: str, recursive: bool, include: tuple[str, ...], ignore: tuple[str, ...], output: str
) -> None:
    """List the files at URI, and its folders with what is below them."""
    from trainway.data.disk import in_words  # noqa: PLC0415 - only to list
    from trainway.data.listing import rows  # noqa: PLC0415 - only to list

    found = rows(_selected(uri, include, ignore).files, is_recursive=recursive)
    if output == "json":
        echo(to_json([_json(row) for row in found]))
    elif output == "name":
        click.echo(
            b"".join(f"{row.name}\n".encode(errors="surrogateescape") for row in found), nl=False
        )
    else:
        cells = [
            (in_words(row.size), _time(row.modified) or "-", _shown(row.name)) for row in found
        ]
        echo(Columns(("SIZE", "MODIFIED", "NAME")).table(cells))


@command.command("du")
@click.argument("uri", metavar="URI")
@_pattern_options
@output_option(("text", "json"))
def du(uri: str, include: tuple[str, ...], ignore: tuple[str, ...], output: str) -> None:
    """Say how many files are at URI, and how large they are together."""
    from trainway.data.disk import in_words  # noqa: PLC0415 - only to measure

    found = _selected(uri, include, ignore)
    if output == "json":
        echo(to_json({"files": len(found.files), "bytes": found.size}))
    else:
        files = "1 file" if len(found.files) == 1 else f"{len(found.files)} files"
        echo(f"{in_words(found.size)} in {files}\n")


@command.command("rm")
@click.argument("uri", metavar="URI")
@_pattern_options
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@output_option(("text", "json"))
def rm(uri: str, include: tuple[str, ...], ignore: tuple[str, ...], yes: bool, output: str) -> int:
    """Remove the file at URI from its bucket, or all files below that folder.

    Nothing but what trainway data ls -r URI lists is removed; a whole bucket never is.
    """
    from trainway.cli.cluster_connection import confirm  # noqa: PLC0415 - only to ask
    from trainway.data.disk import in_words  # noqa: PLC0415 - only to remove
    from trainway.data.patterns import Patterns  # noqa: PLC0415 - only to remove
    from trainway.data.removal import removable, remove  # noqa: PLC0415 - only to remove

    found = removable(uri, Patterns(include, ignore))
    files = "1 file" if len(found.keys) == 1 else f"{len(found.keys)} files"
    if found.keys and not confirm(f"Remove {files} ({in_words(found.size)}) at {uri}?", yes=yes):
        echo_line("nothing was removed")
        return 1
    remove(found)
    done = {"files": len(found.keys), "bytes": found.size}
    echo(to_json(done) if output == "json" else f"{files} removed, {in_words(found.size)}\n")
    return 0


def _selected(uri: str, include: tuple[str, ...], ignore: tuple[str, ...]) -> Any:
    from trainway.data.opening import locate, open_source  # noqa: PLC0415 - not for help
    from trainway.data.patterns import Patterns  # noqa: PLC0415 - not for help
    from trainway.data.selection import select  # noqa: PLC0415 - not for help

    location = locate(uri)
    return select(open_source(location), location, Patterns(include, ignore))


def _json(row: Any) -> dict[str, Any]:
    return {
        "name": row.name.encode(errors="surrogateescape").decode(errors="replace"),
        "bytes": row.size,
        "files": row.files,
        "modified": _time(row.modified),
        "etag": row.etag or None,
    }


def _time(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _shown(name: str) -> str:
    """A name that cannot steer a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in name)
