"""Requests to a store of objects that are made without obstore, a few times if need be.

What is asked each kind of store builds for itself; here it is sent. Nothing of a request is ever
repeated in an error, since it is signed.
"""

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

from trainway.errors import TrainwayError, UnavailableError

_TIMEOUT_S: Final = 300.0
_PAUSES_S: Final = (0.2, 1.0, 3.0)
_MOST_BYTES: Final = 8 << 20
_TRY_AGAIN: Final = 500


class RefusedError(Exception):
    """The store answers, and does not do it."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"status code: {status}: {body.decode(errors='replace')}")
        self.status = status


class _Here(urllib.request.HTTPRedirectHandler):
    """Follows nobody to another host: what is signed is for this one."""

    def redirect_request(self, *_words: object, **_named: object) -> None:
        return None


class StoreRequests:
    """Requests for one object; `url` is its own, and `failure` tells in our words what is wrong."""

    def __init__(self, url: str, failure: Callable[[Exception], TrainwayError]) -> None:
        self._url = urlsplit(url)
        self._failure = failure
        self._opener = urllib.request.build_opener(_Here)
        self.name = f"{self._url.scheme}://{self._url.netloc}{self._url.path}"

    def _built(self, method: str, query: Mapping[str, str], body: bytes) -> urllib.request.Request:
        """The signed request."""
        raise NotImplementedError

    def _asked(self, method: str, query: Mapping[str, str], body: bytes = b"") -> tuple[str, bytes]:
        """Ask, a few times if need be; the etag and the text of the answer."""
        for pause in (*_PAUSES_S, None):
            try:
                return self._once(method, query, body)
            except RefusedError as error:
                if error.status < _TRY_AGAIN or pause is None:
                    raise
            except (OSError, http.client.HTTPException) as error:
                if pause is None:
                    raise self._failure(OSError(type(error).__name__)) from None
            time.sleep(pause)
        raise UnavailableError("the store does not answer")  # not reached

    def _once(self, method: str, query: Mapping[str, str], body: bytes) -> tuple[str, bytes]:
        request = self._built(method, query, body)
        try:
            with self._opener.open(request, timeout=_TIMEOUT_S) as answer:
                return answer.headers.get("ETag") or "", answer.read(_MOST_BYTES)
        except urllib.error.HTTPError as error:
            with error:
                raise RefusedError(error.code, error.read(1 << 16)) from None

    def _parsed(self, text: bytes) -> ET.Element:
        try:
            return ET.fromstring(text)  # noqa: S314 - the user's own store; entities are bounded
        except ET.ParseError:
            raise self._failure(OSError("what came is no XML")) from None


def text_of(element: ET.Element, name: str) -> str:
    """What an element below another one says."""
    return element.findtext(f"{{*}}{name}") or ""
