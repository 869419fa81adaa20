"""Which clouds publish prices that we can read, and a catalog made of what they say now."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from trainway.catalog.csv_format import Row
from trainway.catalog.refresh import aws_prices, azure_prices, download, google_prices
from trainway.catalog.refresh.machine_price import Known, MachineFacts, MachinePrice, as_csv
from trainway.errors import UsageError
from trainway.json_types import Json

CLOUDS: Final = ("aws", "azure", "gcp")
KEY: Final = "GOOGLE_API_KEY"
_MOST_PAGES: Final = 2_000


@dataclass(frozen=True)
class Downloads:
    """How pages and lines are had; a test gives its own."""

    lines: Callable[[str], Iterable[str]] = download.lines
    page: Callable[[str], Json] = download.page


def facts_of(found: Iterable[Row]) -> dict[str, MachineFacts]:
    """What is known of machine types, by the offers that there are."""
    return {
        row.instance_type: MachineFacts(
            row.vcpus, row.memory_gib, row.accelerator, row.accelerator_count
        )
        for row in found
        if row.instance_type
    }


def fetched(
    cloud: str, regions: Sequence[str], known: Known, key: str, downloads: Downloads
) -> str:
    """The catalog file of a cloud, by its price list."""
    match cloud:
        case "aws":
            found = _aws(regions or aws_prices.REGIONS, downloads)
        case "azure":
            urls = [azure_prices.url(region) for region in regions or azure_prices.REGIONS]
            pages = chain.from_iterable(_azure_pages(url, downloads) for url in urls)
            found = azure_prices.prices(pages, known)
        case "gcp":
            if not key:
                raise UsageError(
                    "the price list of Google Cloud needs an API key",
                    hint=f"Set {KEY} to one that may use the Cloud Billing API.",
                )
            found = google_prices.prices(_google_pages(key, downloads), known)
            found = (each for each in found if not regions or each.region in regions)
        case _:
            raise UsageError(
                f"{cloud} publishes no price list that we can read",
                hint=f"Those that do are {', '.join(CLOUDS)}; for others give a file with --from.",
            )
    return as_csv(found)


def _aws(regions: Sequence[str], downloads: Downloads) -> Iterator[MachinePrice]:
    for region in regions:
        yield from aws_prices.prices(downloads.lines(aws_prices.url(region)), region)


def _azure_pages(first: str, downloads: Downloads) -> Iterator[Json]:
    url = first
    for _ in range(_MOST_PAGES):
        page = downloads.page(url)
        yield page
        following = str(page.get(azure_prices.NEXT) or "")
        # Where it goes on is their word, but not to whom we talk.
        if not following.startswith(first.partition("?")[0]):
            return
        url = following


def _google_pages(key: str, downloads: Downloads) -> Iterator[Json]:
    token = ""
    for _ in range(_MOST_PAGES):
        page = downloads.page(google_prices.url(key, token))
        yield page
        token = str(page.get(google_prices.NEXT) or "")
        if not token:
            return
