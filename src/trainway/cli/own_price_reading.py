"""What `config.yaml` says of prices, as a command reads it: the rest is not looked at."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from trainway.catalog.reservations import Reservation, reservations
from trainway.catalog.reservations import errors as reservation_errors
from trainway.errors import InvalidError, ManifestError, UnreadableError
from trainway.schema.field import FieldError, invalid
from trainway.sdk.address import Home


def user_prices() -> Mapping[str, Any]:
    """The section `prices`, empty where there is none."""
    path, prices = _section("prices", "prices")
    if prices:
        from trainway.catalog.own_prices import SHAPE  # noqa: PLC0415 - only where there are some
        from trainway.schema.shape import check  # noqa: PLC0415 - as above

        _refuse(path, check(SHAPE, prices, ("prices",)))
    return prices


def user_reservations() -> list[Reservation]:
    """What was reserved at clouds, in the order in which it is written down."""
    path, clouds = _section("clouds", "reservations")
    if not isinstance(clouds, dict):
        _refuse(path, [invalid(("clouds",), clouds, "must be a map")])
    found: list[Reservation] = []
    for cloud, settings in clouds.items():
        items = settings.get("reservations") if isinstance(settings, dict) else None
        if items is not None:
            _refuse(path, reservation_errors(cloud, items, ("clouds", cloud, "reservations")))
            found += reservations(cloud, items)
    return found


def _section(name: str, word: str) -> tuple[Path, Mapping[str, Any]]:
    """A section of the file; one in which the word does not occur is not parsed."""
    path = Home.of_environment().path / "config.yaml"
    try:
        text = path.read_text("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return path, {}
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableError(f"{path} cannot be read: {error}") from None
    if word not in text:
        return path, {}
    from trainway.api.manifest import parse_manifests  # noqa: PLC0415 - only where there are some

    try:
        documents = parse_manifests(text)
    except ManifestError as error:
        raise UnreadableError(f"{path}: {error}") from None
    found = (documents[0] if documents else {}).get(name) or {}
    return path, found


def _refuse(path: Path, errors: Iterable[FieldError]) -> None:
    wrong = [f"{path}: {error}" for error in errors]
    if wrong:
        raise InvalidError(wrong, hint=f"correct {path}")
