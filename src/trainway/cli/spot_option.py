"""`--use-spot`: rented machines that are cheaper, and may be taken back."""

from typing import Any, Final

import click

from trainway.errors import UsageError
from trainway.families.table import family_of
from trainway.sdk.placement import ANY

spot_option: Final = click.option(
    "--use-spot", is_flag=True, help="Rent spot machines, which a cloud may take back."
)


def check_spot(options: dict[str, Any], on: str | None) -> None:
    """Raise for spot machines where none are rented."""
    places = (on or "").split(",")
    is_found = on == ANY or any(family_of(place.strip()).rents for place in places if place)
    if options.get("use_spot") and not is_found:
        raise UsageError("--use-spot is for machines of a cloud", hint="write --on aws --use-spot")
