"""Repositories of the Hugging Face hub, through its public HTTP API.

A revision is asked for its commit once, and everything is read from that commit, so a push in
between mixes nothing. Large files are checked by the sha-256 that the hub tells, small ones by
their git hash. `HF_ENDPOINT` names another hub and `HF_HUB_OFFLINE` forbids to ask it, as for the
hub's own library; no package of it is needed.
"""

import json
import os
import re
import urllib.parse
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from trainway.data.store import PART_SIZE, ChangedError, Entry, Piece
from trainway.data.uri import MODEL, Location, parse_repository
from trainway.data.web import Answer, read_range, refusal, request
from trainway.errors import TrainwayError, UnavailableError, UsageError

_ENDPOINT: Final = "https://huggingface.co"
_PAGE: Final = 64 << 20
_NEXT: Final = re.compile(r'<([^>]+)>;\s*rel="?next"?')
_SHA256: Final = re.compile("[0-9a-f]{64}")
_SHA1: Final = re.compile("[0-9a-f]{40}")
_LARGEST: Final = 1 << 60
"""No file has so many bytes."""
_TRUE: Final = {"1", "on", "true", "yes"}
_VARIABLES: Final = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
_OF_INITIALIZERS: Final = ("STORAGE_URI", "ACCESS_TOKEN")
"""What tells an initializer what to fetch, and its own name for the token."""


class Hub:
    """One repository, at one commit."""

    part_size: Final = PART_SIZE

    def __init__(self, location: Location, environment: Mapping[str, str] = os.environ) -> None:
        self._location = location
        self._repository = parse_repository(location.bucket)
        self._endpoint = (environment.get("HF_ENDPOINT") or _ENDPOINT).rstrip("/")
        if not self._endpoint.startswith(("https://", "http://")):
            raise UsageError(
                "HF_ENDPOINT is not an address", hint=f"set it to an address such as {_ENDPOINT}"
            )
        if environment.get("HF_HUB_OFFLINE", "").lower() in _TRUE:
            raise UsageError(  # a setting: nothing would be gained by trying again
                f"{location} is not asked for: HF_HUB_OFFLINE is set",
                hint="unset HF_HUB_OFFLINE, or name a folder of this machine",
            )
        self._token, self._token_from = find_token(environment)
        self._looked_for = token_variables(environment)

    def stat(self, key: str) -> Entry | None:
        """The file of that path."""
        if not key:
            return None
        body = json.dumps({"paths": [key], "expand": False}).encode()
        answer = self._asked(f"{self._api}/paths-info/{self._commit}", body)
        return next((entry for entry in self._files(answer) if entry.key == key), None)

    def list(self, folder: str) -> Iterator[Entry]:
        """The files below a folder, page by page."""
        path = f"/{urllib.parse.quote(folder)}" if folder else ""
        url, seen = f"{self._api}/tree/{self._commit}{path}?recursive=true", set[str]()
        while url:
            if url in seen:  # it would go on so for ever
                raise self._strange()
            seen.add(url)
            answer = self._asked(url)
            if answer.status == 404 and folder:
                return
            yield from self._files(answer)
            url = self._next(answer)

    def read(self, entry: Entry, start: int, end: int) -> Iterator[Piece]:
        """A part of a file; a commit does not change."""
        kind = "" if self._repository.kind == MODEL else f"{self._repository.kind}/"
        path = urllib.parse.quote(entry.key)
        url = f"{self._endpoint}/{kind}{self._repository.name}/resolve/{self._commit}/{path}"
        answer = read_range(url, self._headers, start, end)
        if answer.status == 416:
            raise ChangedError(f"{self._location.of(entry.key)} changed while it was read")
        if answer.status not in {200, 206}:
            raise self._refusal(answer.status)
        return iter([answer.body])

    @property
    def _api(self) -> str:
        return f"{self._endpoint}/api/{self._repository.kind}/{self._repository.name}"

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}

    @cached_property
    def _commit(self) -> str:
        revision = urllib.parse.quote(self._repository.revision or "main", safe="")
        found = self._parsed(self._asked(f"{self._api}/revision/{revision}"))
        commit = found.get("sha") if isinstance(found, dict) else None
        if not isinstance(commit, str) or not commit.isalnum():
            raise self._strange()
        return commit

    def _asked(self, url: str, body: bytes | None = None) -> Answer:
        json_type = {"Content-Type": "application/json"} if body else {}
        return request(url, {**self._headers, **json_type}, _PAGE, body)

    def _parsed(self, answer: Answer) -> Any:
        if answer.status != 200:
            raise self._refusal(answer.status)
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError):
            raise self._strange() from None

    def _files(self, answer: Answer) -> tuple[Entry, ...]:
        """The files that an answer tells; it comes from a stranger."""
        try:
            found = self._parsed(answer)
            return tuple(_entry(each) for each in found if each["type"] == "file")
        except (KeyError, TypeError, ValueError):
            raise self._strange() from None

    def _next(self, answer: Answer) -> str:
        """The address of the next page, which only the hub itself may have."""
        match = _NEXT.search(answer.headers.get("Link", ""))
        if match is None:
            return ""
        url = str(urllib.parse.urljoin(self._endpoint, match[1]))
        if not url.startswith(f"{self._endpoint}/"):
            raise self._strange()
        return url

    def _strange(self) -> TrainwayError:
        return UnavailableError(
            f"{self._endpoint} does not answer as a hub does", hint="see HF_ENDPOINT"
        )

    def _refusal(self, status: int) -> TrainwayError:
        if status in {401, 403, 404}:
            names = ", ".join(self._looked_for)
            seen = f"no token was found in {names} or ~/.cache/huggingface/token"
            if self._token:
                seen = f"the token of {self._token_from} was sent"
            hint = f"it does not exist, or you need access: {seen}"
            return refusal(self._location, status, hint)
        return refusal(self._location, status)


def find_token(environment: Mapping[str, str]) -> tuple[str, str]:
    """The token of the user and where it is from, both empty if there is none."""
    for name in token_variables(environment):
        if environment.get(name, "").strip():
            return environment[name].strip(), name
    cache = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    home = environment.get("HF_HOME") or f"{cache}/huggingface"
    path = Path(environment.get("HF_TOKEN_PATH") or f"{home}/token")
    try:
        return path.read_text("utf-8").strip(), str(path)
    except (OSError, UnicodeDecodeError):
        return "", ""


def token_variables(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Where a token is looked for; the general name means one of the hub in initializers only."""
    uri, own = _OF_INITIALIZERS
    return (own, *_VARIABLES) if uri in environment else _VARIABLES


def _entry(found: Mapping[str, Any]) -> Entry:
    """A file; what the hub says of it becomes the names of files here, so nothing odd is taken."""
    large = dict(found.get("lfs") or {})
    sha256, oid = str(large.get("oid", "")), str(found.get("oid", ""))
    size, path = large.get("size", found["size"]), found["path"]
    if type(size) is not int or not 0 <= size < _LARGEST or not isinstance(path, str):
        raise ValueError(size)
    if large and not _SHA256.fullmatch(sha256):
        raise ValueError(sha256)
    path.encode()  # half a character is no name
    sha1 = oid if not large and _SHA1.fullmatch(oid) else ""
    return Entry(path, size, sha256 or oid, None, sha256, sha1)
