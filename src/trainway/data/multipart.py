"""Uploads of S3 and of Google that are made of parts, one request at a time.

obstore sends parts too, but tells nobody the number of the upload, so nobody could go on with it.
Requests are signed here, which takes keys that are known; roles of AWS only obstore finds.
"""

import hashlib
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol
from xml.etree import ElementTree as ET

from trainway.data.signature import Keys, Request, headers
from trainway.data.store_requests import RefusedError, StoreRequests, text_of
from trainway.errors import TrainwayError

UNSEEN: Final = (403, 404)
"""There is no such upload, or we may send parts, and neither list nor remove them."""


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


Sign = Callable[[Request], Mapping[str, str]]
"""Gives the headers that say who asks."""


def signing(keys: Keys) -> Sign:
    """Sign as S3 wants it."""
    return lambda asked: headers(keys, asked, datetime.now(UTC))


class S3Parts(StoreRequests):
    """An object of S3, or of Google, whose XML protocol is the same but for who asks.

    `url` is its own, and `failure` tells in our words what went wrong.
    """

    def __init__(self, url: str, sign: Sign, failure: Callable[[Exception], TrainwayError]) -> None:
        super().__init__(url, failure)
        self._sign = sign

    def begin(self) -> str:
        """Begin an upload."""
        return text_of(self._xml("POST", {"uploads": ""}), "UploadId")

    def there(self, upload: str) -> dict[int, Part] | None:
        """The parts that are there."""
        found: dict[int, Part] = {}
        marker = "0"
        while True:
            query = {"uploadId": upload, "part-number-marker": marker, "max-parts": "1000"}
            try:
                page = self._parsed(self._asked("GET", query)[1])
            except RefusedError as error:
                if error.status in UNSEEN:
                    return None
                raise self._failure(error) from None
            for each in page.findall("{*}Part"):
                part = Part(int(text_of(each, "Size")), text_of(each, "ETag"))
                found[int(text_of(each, "PartNumber"))] = part
            following = page.findtext("{*}NextPartNumberMarker") or ""
            if page.findtext("{*}IsTruncated") != "true" or following in {"", marker}:
                return found
            marker = following

    def put(self, upload: str, number: int, body: bytes) -> str:
        """Send a part."""
        query = {"partNumber": str(number), "uploadId": upload}
        try:
            return self._asked("PUT", query, body)[0]
        except RefusedError as error:
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
        except RefusedError as error:
            if error.status not in UNSEEN:
                raise self._failure(error) from None

    def _xml(self, method: str, query: Mapping[str, str], body: bytes = b"") -> ET.Element:
        try:
            found = self._parsed(self._asked(method, query, body)[1])
        except RefusedError as error:
            raise self._failure(error) from None
        if found.tag.rpartition("}")[2] == "Error":
            raise self._failure(OSError(f"<Code>{text_of(found, 'Code')}</Code>"))
        return found

    def _built(self, method: str, query: Mapping[str, str], body: bytes) -> urllib.request.Request:
        url = self._url
        asked = Request(method, url.netloc, url.path, query, hashlib.sha256(body).hexdigest())
        return urllib.request.Request(  # noqa: S310 - obstore has made the address
            f"{url.scheme}://{url.netloc}{url.path}?{asked.search}",
            data=body or (b"" if method == "POST" else None),
            method=method,
            headers={**self._sign(asked), "content-type": "application/octet-stream"},
        )
