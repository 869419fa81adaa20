"""Files of web servers, and the requests that the hub is asked with.

The standard library sends them. A token goes to the host it is meant for and to no other one, and a
request that was encrypted is never passed on in the clear. Failures name the URI as it was written,
without what stands behind its question mark.
"""

import http.client
import ipaddress
import re
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import IO, Any, Final

from trainway.data.store import PART_SIZE, ChangedError, Entry, Piece
from trainway.data.uri import Location
from trainway.errors import (
    ForbiddenError,
    NotFoundError,
    TrainwayError,
    UnavailableError,
    UnreadableError,
)

_TIMEOUT_S: Final = 60.0
_PAUSES_S: Final = (0.5, 1.0, 2.0)
_PASSING: Final = {408, 425, 429, 500, 502, 503, 504}
_READ_THROUGH: Final = 64 << 20
"""So much of a file is read from its beginning where a server gives no parts of files."""
_TOTAL: Final = re.compile(r"bytes (?:\d+-\d+|\*)/(\d{1,18})")
_LENGTH: Final = re.compile(r"[0-9]{1,18}")
_WEB: Final = ("https", "http")
_METADATA: Final = ipaddress.ip_network("fd00:ec2::/32")
"""Where AWS has it for IPv6; all others are addresses of the link."""


@dataclass(frozen=True)
class Answer:
    """What a server says, and the bytes that were asked for."""

    status: int
    headers: Message
    body: bytes


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows a server elsewhere, without what is meant for itself alone."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """The next request."""
        before, after = urllib.parse.urlsplit(req.full_url), urllib.parse.urlsplit(newurl)
        if before.scheme == "https" and after.scheme != "https":
            raise UnavailableError(f"{before.hostname} leads to a place that is not encrypted")
        if after.scheme not in _WEB:
            raise UnavailableError(f"{before.hostname} leads to a place that is not of the web")
        if after.scheme == "http" and before.netloc != after.netloc and _is_own(newurl):
            raise UnavailableError(
                f"{before.hostname} leads to an address that is for this machine alone"
            )
        made = super().redirect_request(req, fp, code, msg, headers, newurl)
        if made is not None and (before.scheme, before.netloc) != (after.scheme, after.netloc):
            made.remove_header("Authorization")
        return made


def _is_own(url: str) -> bool:
    """Whether a cloud tells its machines their credentials there."""
    try:
        host = urllib.request.Request(url).host  # noqa: S310 - http, and as it would be asked
        address = urllib.parse.urlsplit(f"//{host}")
        found = socket.getaddrinfo(address.hostname, address.port or 80, type=socket.SOCK_STREAM)
        places = [ipaddress.ip_address(str(each[4][0]).partition("%")[0]) for each in found]
    except (OSError, ValueError):
        return False  # whoever asks for it will say what is wrong
    return any(each.is_link_local or each in _METADATA for each in places)


_OPENER: Final = urllib.request.build_opener(_Redirects)


def request(
    url: str,
    headers: Mapping[str, str],
    limit: int,
    data: bytes | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Answer:
    """Ask, a few times if need be; the body is read up to a limit."""
    asked = urllib.request.Request(  # noqa: S310 - the schemes are checked by whoever asks
        url, data, {"Accept-Encoding": "identity", "User-Agent": "trainway", **headers}
    )
    for pause in (*_PAUSES_S, None):
        try:
            answer = _ask(asked, limit)
        except (OSError, http.client.HTTPException) as error:
            if pause is None:
                host = urllib.parse.urlsplit(url).hostname
                reason = getattr(error, "reason", error)
                raise UnavailableError(f"{host} cannot be reached: {reason}") from None
        else:
            if answer.status not in _PASSING or pause is None:
                return answer
        sleep(pause)
    raise AssertionError  # the last pause is None


def _ask(asked: urllib.request.Request, limit: int) -> Answer:
    try:
        with closing(_OPENER.open(asked, timeout=_TIMEOUT_S)) as found:
            return Answer(found.status, found.headers, _body(found, limit))
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.headers, b"")


def _body(found: Any, limit: int) -> bytes:
    body: bytes = found.read(limit)
    length = found.headers.get("Content-Length", "")
    if _LENGTH.fullmatch(length) and len(body) < min(limit, int(length)):
        raise http.client.IncompleteRead(body)
    return body


def read_range(url: str, headers: Mapping[str, str], start: int, end: int) -> Answer:
    """A part of a file; a server that gives no parts is read from the beginning, if it is near."""
    ranged = {**headers, "Range": f"bytes={start}-{end - 1}"}
    answer = request(url, ranged, end - start)
    if answer.status != 200 or start == 0:
        return answer
    if end > _READ_THROUGH:
        raise UnavailableError(
            f"{urllib.parse.urlsplit(url).hostname} gives no parts of files, and this one is large"
        )
    whole = request(url, headers, end)
    return Answer(whole.status, whole.headers, whole.body[start:])


class WebFiles:
    """The files of one web server; it has no folders."""

    part_size: Final = PART_SIZE

    def __init__(self, location: Location, root: str | None = None) -> None:
        self._location = location
        self._root = root or f"https://{location.bucket}"

    def stat(self, key: str) -> Entry | None:
        """The file of that path, by asking for its first byte."""
        answer = request(self._url(key), {"Range": "bytes=0-0"}, 1)
        match = _TOTAL.fullmatch(answer.headers.get("Content-Range", ""))
        if answer.status == 404:
            return None
        if answer.status in {206, 416} and match:
            size = int(match[1])
        elif answer.status == 200:
            size = self._length(key, answer)
        else:
            raise refusal(self._location.of(key), answer.status)
        return Entry(key, size, _etag(answer), _modified(answer))

    def list(self, folder: str) -> Iterator[Entry]:
        """No web server tells what is in a folder."""
        del folder
        return iter(())

    def read(self, entry: Entry, start: int, end: int) -> Iterator[Piece]:
        """A part of a file that must still be the one it was."""
        answer = read_range(self._url(entry.key), {}, start, end)
        where = self._location.of(entry.key)
        if answer.status == 416 or (answer.status in {200, 206} and _etag(answer) != entry.etag):
            raise ChangedError(f"{where} changed while it was read")
        if answer.status not in {200, 206}:
            raise refusal(where, answer.status)
        return iter([answer.body])

    def _length(self, key: str, answer: Answer) -> int:
        length = answer.headers.get("Content-Length", "")
        if not _LENGTH.fullmatch(length):
            raise UnreadableError(f"{self._location.of(key)}: its server does not tell its length")
        return int(length)

    def _url(self, key: str) -> str:
        path = urllib.parse.quote(key, safe="/%:@!$&'()*+,;=~")
        query = f"?{self._location.query}" if self._location.query else ""
        return f"{self._root}/{path}{query}"


def refusal(location: Location, status: int, hint: str | None = None) -> TrainwayError:
    """What to say of a status that is none of success."""
    if status in {401, 403}:
        return ForbiddenError(f"access to {location} was denied ({status})", hint=hint)
    if status == 404:
        return NotFoundError(f"there is nothing at {location}", hint=hint)
    return UnavailableError(f"{location}: its server answered {status}", hint=hint)


def _etag(answer: Answer) -> str:
    return str(answer.headers.get("ETag") or answer.headers.get("Last-Modified") or "")


def _modified(answer: Answer) -> float | None:
    try:
        return parsedate_to_datetime(answer.headers["Last-Modified"]).timestamp()
    except (TypeError, ValueError):
        return None
