"""`trainway catalog`: where prices come from, and how they are fetched anew."""

import os
import re
from pathlib import Path
from typing import Final

import click

from trainway.cli.columns import Columns
from trainway.cli.job_options import output_option
from trainway.cli.job_text import utc_now
from trainway.cli.output import echo, echo_line, to_json
from trainway.counting import counted
from trainway.errors import TrainwayError, UsageError
from trainway.sdk.address import Home

_CLOUD: Final = re.compile(r"[a-z][a-z0-9_-]{0,62}")
_REFRESH: Final = """Fetch what clouds charge now, into catalog/ of Trainway's home.

\b
trainway catalog refresh                            AWS, Azure, and Google Cloud with a key
trainway catalog refresh --cloud aws --region us-east-1
trainway catalog refresh --from FOLDER              CLOUD.csv[.gz] each, in SkyPilot's form
trainway catalog refresh --cloud oci --from https://example.org/oci.csv

A file that you have made or edited is never overwritten: move it away to have it fetched. The price
list of AWS has no spot prices, and that of Azure no memory of types that are new here. Google's
needs an API key in GOOGLE_API_KEY.

Exit status: 0 done, 1 something could not be fetched, 2 wrong usage.
"""


@click.group("catalog")
def command() -> None:
    """Show where the prices of clouds come from, and fetch new ones."""


@command.command("list")
@output_option(("table", "json"))
def list_files(output: str) -> None:
    """List the files of the catalog; other clouds may have lines in a list of our own.

    Where TRAINWAY_CATALOG names a folder, its files are all that counts.
    """
    from trainway.catalog.refresh.kept_file import notes, state  # noqa: PLC0415 - seldom needed
    from trainway.catalog.sources import VARIABLE, catalog_files  # noqa: PLC0415 - as above

    named = os.environ.get(VARIABLE)
    folder = Path(named).expanduser() if named else _folder()
    known = notes(folder)
    found = []
    for cloud, path in catalog_files(folder).items():
        note = known.get(cloud)
        told = {"source": note.source, "time": note.time} if note else {"source": "", "time": ""}
        found.append({"cloud": cloud, "file": str(path), "state": state(folder, cloud), **told})
    if output == "json":
        echo(to_json(found))
    elif not found:
        echo_line(f"{folder} has no files: the prices that come with Trainway count")
        echo_line("hint: trainway catalog refresh fetches newer ones")
    else:
        fields = ("cloud", "state", "time", "source", "file")
        rows = [[str(each[name]) for name in fields] for each in found]
        echo(Columns(tuple(name.upper() for name in fields)).table(rows))


@command.command("refresh", help=_REFRESH)
@click.option("--cloud", "clouds", multiple=True, metavar="CLOUD", help="Only this cloud.")
@click.option("--region", "regions", multiple=True, metavar="REGION", help="Only this region.")
@click.option("--from", "source", metavar="SOURCE", help="A folder, a file or an https:// address.")
def refresh(clouds: tuple[str, ...], regions: tuple[str, ...], source: str | None) -> int:
    """Fetch, and say what became of each cloud."""
    for word in (*clouds, *regions):
        if not _CLOUD.fullmatch(word):
            raise UsageError(
                f"{word!r} is not the name of a cloud or region", hint="write --cloud aws"
            )
    if source is not None:
        if regions:
            raise UsageError("--region is for price lists", hint="leave it out with --from")
        return _each(_named(clouds, source), "")
    from trainway.catalog.refresh.price_lists import CLOUDS, KEY  # noqa: PLC0415 - seldom needed

    has_key = bool(os.environ.get(KEY))
    chosen = clouds or [cloud for cloud in CLOUDS if cloud != "gcp" or has_key]
    if not clouds and not has_key:
        echo_line(f"gcp: left out, since {KEY} is not set")
    return _each(dict.fromkeys(chosen), "price list", regions)


def _each(sources: dict[str, Path | str | None], name: str, regions: tuple[str, ...] = ()) -> int:
    """Fetch each cloud; one that fails holds up no other."""
    status = 0
    for cloud, source in sources.items():
        try:
            count = _fetch(cloud, source, name, regions)
        except TrainwayError as error:
            echo_line(f"{cloud}: {error.message}")
            if error.hint:
                echo_line(f"hint: {error.hint}")
            status = 1
        else:
            echo(f"{cloud}: {counted(count, 'offer')}\n")
    return status


def _fetch(cloud: str, source: Path | str | None, name: str, regions: tuple[str, ...]) -> int:
    from trainway.catalog.refresh import kept_file, price_lists, source_file  # noqa: PLC0415 - seldom
    from trainway.catalog.sources import known_rows  # noqa: PLC0415 - as above

    folder = _folder()
    kept_file.refuse_edited(folder, cloud)  # before anything large is fetched
    if source is not None:
        text, name = source_file.text_of(source), str(source)
    else:
        known = price_lists.facts_of(known_rows(folder.parent, cloud))
        key = os.environ.get(price_lists.KEY, "")
        text = price_lists.fetched(cloud, regions, known, key, price_lists.Downloads())
    return kept_file.keep(folder, cloud, text, name, utc_now().isoformat(timespec="seconds"))


def _named(clouds: tuple[str, ...], source: str) -> dict[str, Path | str | None]:
    """Where each cloud comes from."""
    if "://" in source or not Path(source).is_dir():
        if len(clouds) != 1:
            raise UsageError("name the cloud of that file", hint="write --cloud aws")
        return {clouds[0]: source if "://" in source else Path(source)}
    from trainway.catalog.sources import catalog_files  # noqa: PLC0415 - seldom needed

    there = catalog_files(Path(source))
    missing = [cloud for cloud in clouds if cloud not in there] if there else ["any cloud"]
    if missing:
        raise UsageError(
            f"{source} has no file of {missing[0]}",
            hint="It has one CLOUD.csv[.gz] each.",
        )
    return {cloud: path for cloud, path in there.items() if not clouds or cloud in clouds}


def _folder() -> Path:
    return Home.of_environment().path / "catalog"
