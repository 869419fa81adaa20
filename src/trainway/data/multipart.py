"""Uploads of S3 that are made of parts, one request at a time.

obstore sends parts too, but tells nobody the number of the upload, so nobody could go on with it.
Requests are signed here, which takes keys that are known; roles of instances only obstore finds.
"""

import hashlib
import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

from trainway.data.signature import Keys, Request, headers
from trainway.errors import TrainwayError, UnavailableError

_TIMEOUT_S: Final = 300.0
_PAUSES_S: Final = (0.2, 1.0, 3.0)
_MOST_BYTES: Final = 8 << 20
_UNSEEN: Final = (403, 404)
"""There is no such upload, or we may send parts, and neither list nor remove them."""
_TRY_AGAIN: Final = 500


@dataclass(frozen=True)
class Part:
    """A part that is there."""

    size: int
    etag: str


class Parts(Protocol):
    """Where an object can be made part by part; errors are those that users see."""

    @property
    def name(self) -> str:
        """Which object it is, among all that there are."""
        ...

    def begin(self) -> str:
        """Begin an upload, and say its number."""
        ...

    def there(self, upload: str) -> dict[int, Part] | None:
        """The parts that are there, by their numbers from 1 on; None: nobody can tell."""
        ...

    def put(self, upload: str, number: int, body: bytes) -> str:
        """Send a part, and say its etag."""
        ...

    def complete(self, upload: str, etags: Mapping[int, str]) -> None:
        """Make the object of its parts."""
        ...

    def abort(self, upload: str) -> None:
        """Remove the parts of an upload, if they are there and we may."""
        ...


class _RefusedError(Exception):
    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"status code: {status}: {body.decode(errors='replace')}")
        self.status = status


class _Here(urllib.request.HTTPRedirectHandler):
    """Follows nobody to another host: what is signed is for this one."""

    def redirect_request(self, *_words: object, **_named: object) -> None:
        return None


class S3Parts:
    """An object of S3; `url` is its own, and `failure` tells in our words what went wrong."""

    def __init__(self, url: str, keys: Keys, failure: Callable[[Exception], TrainwayError]) -> None:
        self._url = urlsplit(url)
        self._keys = keys
        self._failure = failure
        self._opener = urllib.request.build_opener(_Here)
        self.name = f"{self._url.scheme}://{self._url.netloc}{self._url.path}"

    def begin(self) -> str:
        """Begin an upload."""
        return _text(self._xml("POST", {"uploads": ""}), "UploadId")

    def there(self, upload: str) -> dict[int, Part] | None:
        """The parts that are there."""
        found: dict[int, Part] = {}
        marker = "0"
        while True:
            query = {"uploadId": upload, "part-number-marker": marker, "max-parts": "1000"}
            try:
                page = self._parsed(self._asked("GET", query)[1])
            except _RefusedError as error:
                if error.status in _UNSEEN:
                    return None
                raise self._failure(error) from None
            for each in page.findall("{*}Part"):
                part = Part(int(_text(each, "Size")), _text(each, "ETag"))
                found[int(_text(each, "PartNumber"))] = part
            following = page.findtext("{*}NextPartNumberMarker") or ""
            if page.findtext("{*}IsTruncated") != "true" or following in {"", marker}:
                return found
            marker = following

    def put(self, upload: str, number: int, body: bytes) -> str:
        """Send a part."""
        query = {"partNumber": str(number), "uploadId": upload}
        try:
            return self._asked("PUT", query, body)[0]
        except _RefusedError as error:
            raise self._failure(error) from None

    def complete(self, upload: str, etags: Mapping[int, str]) -> None:
        """Make the object; S3 may say that it went wrong after it has said that it goes well."""
        top = ET.Element("CompleteMultipartUpload")
        for number in sorted(etags):
            part = ET.SubElement(top, "Part")
            ET.SubElement(part, "PartNumber").text = str(number)
            ET.SubElement(part, "ETag").text = etags[number]
        self._xml("POST", {"uploadId": upload}, ET.tostring(top))

    def abort(self, upload: str) -> None:
        """Remove the parts."""
        try:
            self._asked("DELETE", {"uploadId": upload})
        except _RefusedError as error:
            if error.status not in _UNSEEN:
                raise self._failure(error) from None

    def _xml(self, method: str, query: Mapping[str, str], body: bytes = b"") -> ET.Element:
        try:
            found = self._parsed(self._asked(method, query, body)[1])
        except _RefusedError as error:
            raise self._failure(error) from None
        if found.tag.rpartition("}")[2] == "Error":
            raise self._failure(OSError(f"<Code>{_text(found, 'Code')}</Code>"))
        return found

    def _parsed(self, text: bytes) -> ET.Element:
        try:
            return ET.fromstring(text)  # noqa: S314 - the user's own store; entities are bounded
        except ET.ParseError:
            raise self._failure(OSError("what came is no XML")) from None

    def _asked(self, method: str, query: Mapping[str, str], body: bytes = b"") -> tuple[str, bytes]:
        """Ask, a few times if need be; the etag and the text of the answer."""
        for pause in (*_PAUSES_S, None):
            try:
                return self._once(method, query, body)
            except _RefusedError as error:
                if error.status < _TRY_AGAIN or pause is None:
                    raise
            except (OSError, http.client.HTTPException) as error:
                if pause is None:
                    raise self._failure(OSError(type(error).__name__)) from None
            time.sleep(pause)
        raise UnavailableError("the store does not answer")  # not reached

    def _once(self, method: str, query: Mapping[str, str], body: bytes) -> tuple[str, bytes]:
        url, digest = self._url, hashlib.sha256(body).hexdigest()
        asked = Request(method, url.netloc, url.path, query, digest)
        request = urllib.request.Request(  # noqa: S310 - obstore has made the address
            f"{url.scheme}://{url.netloc}{url.path}?{asked.search}",
            data=body or (b"" if method == "POST" else None),
            method=method,
            headers={
                **headers(self._keys, asked, datetime.now(UTC)),
                "content-type": "application/octet-stream",
            },
        )
        try:
            with self._opener.open(request, timeout=_TIMEOUT_S) as answer:
                return answer.headers.get("ETag") or "", answer.read(_MOST_BYTES)
        except urllib.error.HTTPError as error:
            with error:
                raise _RefusedError(error.code, error.read(1 << 16)) from None


def _text(element: ET.Element, name: str) -> str:
    return element.findtext(f"{{*}}{name}") or ""
