"""Google's uploads in parts, by its XML protocol, which fake-gcs-server does not know.

What passes requests on to it answers them itself, and gives it the whole object at last. So the
protocol is ours as its documentation has it, and the object is that of fake-gcs-server.
"""

import hashlib
import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qs
from xml.etree import ElementTree as ET

Answer = tuple[int, dict[str, str], bytes]
NO_UPLOAD: Answer = (404, {}, b"<Error><Code>NoSuchUpload</Code></Error>")


@dataclass
class GoogleParts:
    """The uploads of a store, by their numbers; each of one object."""

    uploads: dict[str, tuple[str, dict[int, bytes]]] = field(default_factory=dict)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(
        self, method: str, target: str, body: bytes, put: Callable[[str, bytes], Answer]
    ) -> Answer | None:
        """What is said to a request; None: it is about no upload."""
        path, _, search = target.partition("?")
        query = {key: words[0] for key, words in parse_qs(search, keep_blank_values=True).items()}
        with self._lock:
            if method == "POST" and "uploads" in query:
                upload = f"upload-{next(self._numbers)}"
                self.uploads[upload] = (path, {})
                return 200, {}, f"<R><UploadId>{upload}</UploadId></R>".encode()
            if "uploadId" not in query:
                return None
            known, parts = self.uploads.get(query["uploadId"], ("", {}))
            if known != path:
                return NO_UPLOAD
            if method == "PUT":
                parts[int(query["partNumber"])] = body
                return 200, {"ETag": etag(body)}, b""
            if method == "GET":
                return 200, {}, listed(parts)
            del self.uploads[query["uploadId"]]
        if method == "DELETE":
            return 204, {}, b""
        return self._complete(path, parts, body, put)

    def _complete(
        self, path: str, parts: dict[int, bytes], body: bytes, put: Callable[[str, bytes], Answer]
    ) -> Answer:
        asked = [
            (int(each.findtext("PartNumber") or 0), each.findtext("ETag"))
            for each in ET.fromstring(body)  # noqa: S314 - of the program that is tested
        ]
        if asked != [(number, etag(parts[number])) for number in sorted(parts)]:
            return 400, {}, b"<Error><Code>InvalidPart</Code></Error>"
        status, headers, said = put(path, b"".join(parts[number] for number in sorted(parts)))
        return (status, headers, said) if status >= 300 else (200, {}, b"<R><ETag>e</ETag></R>")


def etag(body: bytes) -> str:
    """Google's etag of a part."""
    return f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'


def listed(parts: dict[int, bytes]) -> bytes:
    """The list of the parts that are there."""
    top = ET.Element("ListPartsResult", xmlns="http://s3.amazonaws.com/doc/2006-03-01/")
    ET.SubElement(top, "IsTruncated").text = "false"
    for number, body in sorted(parts.items()):
        part = ET.SubElement(top, "Part")
        for name, text in (("PartNumber", number), ("ETag", etag(body)), ("Size", len(body))):
            ET.SubElement(part, name).text = str(text)
    return ET.tostring(top)
