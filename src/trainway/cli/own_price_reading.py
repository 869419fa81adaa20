"""The prices of own machines as a command reads them, from the user's `config.yaml`."""

from collections.abc import Mapping
from typing import Any

from trainway.errors import InvalidError, ManifestError, UnreadableError
from trainway.sdk.address import Home


def user_prices() -> Mapping[str, Any]:
    """The section `prices`, empty where there is none; the rest of the file is not looked at."""
    path = Home.of_environment().path / "config.yaml"
    try:
        text = path.read_text("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableError(f"{path} cannot be read: {error}") from None
    if "prices" not in text:
        return {}
    from trainway.api.manifest import parse_manifests  # noqa: PLC0415 - only where there are some
    from trainway.catalog.own_prices import SHAPE  # noqa: PLC0415 - as above
    from trainway.schema.shape import check  # noqa: PLC0415 - as above

    try:
        documents = parse_manifests(text)
    except ManifestError as error:
        raise UnreadableError(f"{path}: {error}") from None
    prices = (documents[0] if documents else {}).get("prices") or {}
    wrong = list(check(SHAPE, prices, ("prices",)))
    if wrong:
        raise InvalidError([f"{path}: {error}" for error in wrong], hint=f"correct {path}")
    found: Mapping[str, Any] = prices
    return found
