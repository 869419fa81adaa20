"""Which objects of buckets can be sent part by part, and by whom: one way for each kind of store.

Where there is none obstore sends them, and nobody can go on with what was sent.
"""

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from trainway.data import azure_address
from trainway.data.azure_address import Method
from trainway.data.azure_blocks import SIGNED_FOR_S, AzureBlocks
from trainway.data.google_token import GoogleTokens, credentials_of
from trainway.data.multipart import Parts, S3Parts, signing
from trainway.data.profile import ReadText, gs_config
from trainway.data.signature import Keys
from trainway.data.uri import Location
from trainway.errors import TrainwayError

Failure = Callable[[Exception], TrainwayError]
_SIGNED_FOR = timedelta(seconds=SIGNED_FOR_S)
_GOOGLE = "https://storage.googleapis.com"


class PartTargets:
    """The objects of one bucket; `keys` are those of S3, if they are known."""

    def __init__(self, store: Any, keys: Keys | None, read: ReadText) -> None:
        self._store = store
        self._keys = keys
        self._read = read
        self._tokens: GoogleTokens | None = None

    def of(self, location: Location, failure: Failure) -> Parts | None:
        """The object of a location; None: it cannot be sent part by part."""
        if location.scheme == "gs":
            return self._google(location, failure)
        if location.scheme == "az":
            return self._azure(location, failure)
        if self._keys is None:
            return None
        return S3Parts(self._signed("PUT", location.key), signing(self._keys), failure)

    def _azure(self, location: Location, failure: Failure) -> Parts | None:
        from obstore.exceptions import BaseError  # noqa: PLC0415 - an extra

        def sign(method: Method) -> str:
            until, name = datetime.now(UTC) + _SIGNED_FOR, location.key
            found = azure_address.address(os.environ, location.bucket, name, method, until)
            if found:
                return found
            try:
                if name == azure_address.plain(name):
                    return self._signed(method, name)
            except (BaseError, ValueError):
                pass
            raise OSError("the address cannot be signed")

        try:
            return AzureBlocks(sign, failure)
        except OSError:
            return None

    def _google(self, location: Location, failure: Failure) -> Parts | None:
        config = gs_config(os.environ)
        told = config.get("google_bearer_token", "")
        token = self._token if not told else lambda: told
        try:
            if os.environ.get("GOOGLE_SKIP_SIGNATURE") or not token():
                return None
        except OSError:  # obstore finds others, or says what is wrong
            return None
        base = config.get("google_base_url", _GOOGLE)
        url = f"{base}/{location.bucket}/{quote(location.key, safe='/-_.~')}"
        return S3Parts(url, lambda _asked: {"authorization": f"Bearer {token()}"}, failure)

    def _token(self) -> str:
        """A token of Google; empty: only obstore knows who asks."""
        if self._tokens is None:
            found = credentials_of(os.environ, str(Path.home()), self._read)
            if found is None:
                return ""
            self._tokens = GoogleTokens(found)
        return self._tokens.token()

    def _signed(self, method: str, key: str) -> str:
        import obstore  # noqa: PLC0415 - an extra

        sign: Any = obstore.sign
        return str(sign(self._store, method, key, _SIGNED_FOR))
