"""Uploads of Azure that are made of blocks, one request at a time.

Azure has no numbers of uploads: blocks lie beside the blob, under names that we choose, until a
list makes a blob of some of them. So the name of a block says which upload it is of, which part it
is, and what is in it. Blocks of other uploads go when the list is made, and otherwise after a week.
"""

import base64
import binascii
import hashlib
import secrets
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote
from xml.etree import ElementTree as ET

from trainway.data.azure_address import Method
from trainway.data.multipart import UNSEEN, Part
from trainway.data.store_requests import RefusedError, StoreRequests, text_of
from trainway.errors import ConflictError, TrainwayError

SIGNED_FOR_S: Final = 900.0
_UPLOAD, _NUMBER, _DIGEST = 12, 4, 16
"""Bytes of a name. All blocks of a blob have names of the same length, and those that obstore may
have left have 32 bytes."""
_LIST: Final = {"comp": "blocklist", "blocklisttype": "all"}
_NO_CONTAINER: Final = "ContainerNotFound"
_OTHER_LENGTH: Final = "InvalidBlobOrBlock"


@dataclass(frozen=True)
class Block:
    """A part of an upload; `digest` is the md5 of its content."""

    upload: str
    number: int
    digest: str

    @property
    def name(self) -> str:
        """As Azure has it."""
        words = (
            bytes.fromhex(self.upload),
            self.number.to_bytes(_NUMBER),
            bytes.fromhex(self.digest),
        )
        return base64.b64encode(b"".join(words)).decode()


def block_of(name: str) -> Block | None:
    """The block of that name; None: it is not one of ours."""
    try:
        found = base64.b64decode(name, validate=True)
    except (binascii.Error, ValueError):
        return None
    if len(found) != _UPLOAD + _NUMBER + _DIGEST:
        return None
    number, digest = found[_UPLOAD : _UPLOAD + _NUMBER], found[_UPLOAD + _NUMBER :]
    return Block(found[:_UPLOAD].hex(), int.from_bytes(number), digest.hex())


class AzureBlocks(StoreRequests):
    """A blob; `sign` gives its address for a request, with the right to make it."""

    def __init__(
        self, sign: Callable[[Method], str], failure: Callable[[Exception], TrainwayError]
    ) -> None:
        self._sign = sign
        self._addresses: dict[str, tuple[float, str]] = {}
        self._lock = threading.Lock()
        super().__init__(self._address("PUT"), failure)

    def begin(self) -> str:
        """A number for the names of the blocks, if there is a container to put them in.

        Azure refuses what is large while it is sent, and nobody hears why.
        """
        try:
            self._asked("GET", _LIST)
        except RefusedError as error:
            if _NO_CONTAINER in str(error):
                raise self._failure(error) from None
        return secrets.token_hex(_UPLOAD)

    def there(self, upload: str) -> dict[int, Part] | None:
        """The blocks of the upload, those included of which the blob is made already."""
        try:
            page = self._parsed(self._asked("GET", _LIST)[1])
        except RefusedError as error:
            if error.status in UNSEEN:
                return None
            raise self._failure(error) from None
        found: dict[int, Part] = {}
        for each in page.iter("Block"):
            block = block_of(text_of(each, "Name"))
            if block is not None and block.upload == upload:
                found[block.number] = Part(int(text_of(each, "Size")), block.digest)
        return found

    def put(self, upload: str, number: int, body: bytes) -> str:
        """Send a block."""
        digest = hashlib.md5(body, usedforsecurity=False).hexdigest()
        self._sent({"comp": "block", "blockid": Block(upload, number, digest).name}, body)
        return digest

    def complete(self, upload: str, etags: Mapping[int, str]) -> None:
        """Make the blob of its blocks; again, if it was made and the answer was lost."""
        top = ET.Element("BlockList")
        for number in sorted(etags):
            ET.SubElement(top, "Latest").text = Block(upload, number, etags[number]).name
        self._sent({"comp": "blocklist"}, ET.tostring(top, "utf-8", xml_declaration=True))

    def abort(self, upload: str) -> None:
        """Nothing can be asked for: the next list, or a week, removes what is not in it."""

    def _sent(self, query: Mapping[str, str], body: bytes) -> None:
        try:
            self._asked("PUT", query, body)
        except RefusedError as error:
            if _OTHER_LENGTH in str(error):
                raise ConflictError(
                    f"{self.name}: another program has begun to send this blob, and has not ended",
                    hint="Azure forgets what it has sent after a week; another name works now",
                ) from None
            raise self._failure(error) from None

    def _built(self, method: str, query: Mapping[str, str], body: bytes) -> urllib.request.Request:
        words = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
        digest = hashlib.md5(body, usedforsecurity=False).digest()
        headers = {"content-type": "application/octet-stream"}
        if method == "PUT":
            headers["content-md5"] = base64.b64encode(digest).decode()
        return urllib.request.Request(  # noqa: S310 - obstore has made the address
            f"{self._address('PUT' if method == 'PUT' else 'GET')}&{words}",
            data=body if method == "PUT" else None,
            method=method,
            headers=headers,
        )

    def _address(self, method: Method) -> str:
        """The signed address, as long as its signature is good for a while."""
        with self._lock:
            until, address = self._addresses.get(method, (0.0, ""))
            if time.monotonic() > until:
                address = self._sign(method)
                self._addresses[method] = (time.monotonic() + SIGNED_FOR_S / 2, address)
            return address
