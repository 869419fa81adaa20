"""Clouds that are asked with JSON over HTTP: requests, answers, and what refusals mean."""

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any, Final

from trainway.providers.backoff import repeated
from trainway.providers.errors import Meaning, ProviderError, Scope, Trouble
from trainway.providers.meanings import (
    CREDENTIALS,
    DENIED,
    SILENT,
    THROTTLED,
    WRONG_HERE,
)

LIMIT_S: Final = 60.0
MOST: Final = 32 * 1024 * 1024
STATUSES: Final[Mapping[int, Meaning]] = {
    400: WRONG_HERE,
    401: CREDENTIALS,
    403: DENIED,
    404: WRONG_HERE,
    408: SILENT,
    422: WRONG_HERE,
    429: THROTTLED,
}
OTHER: Final = Meaning(Trouble.OTHER, Scope.REGION)


@dataclass(frozen=True)
class Complaint:
    """The text of an error, with what it means if that is known."""

    message: str
    meaning: Meaning | None = None
    hint: str = ""
    code: str = ""


class RefusalError(ProviderError):
    """What a cloud has answered instead of doing what it was asked."""

    def __init__(self, cloud: str, status: int, found: Complaint) -> None:
        meaning = found.meaning or status_meaning(status)
        message = found.message or f"it answers {status}"
        super().__init__(
            f"{cloud}: {message.strip().rstrip('.')}",
            trouble=meaning.trouble,
            scope=meaning.scope,
            spot_only=meaning.spot_only,
            hint=found.hint,
        )
        self.status = status
        self.code = found.code


def bearer(token: Callable[[], str]) -> Callable[[], Mapping[str, str]]:
    """The header of who asks with a token, which is asked for each time: it may be new by then."""
    return lambda: {"Authorization": f"Bearer {token()}"}


class _Stay(urllib.request.HTTPRedirectHandler):
    """A key is never sent to where somebody else points."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class WebApi:
    """One cloud's address. `authorize` gives the headers that say who asks."""

    def __init__(
        self,
        cloud: str,
        address: str,
        authorize: Callable[[], Mapping[str, str]],
        read: Callable[[int, Any], Complaint],
    ) -> None:
        """`read`: what the body of an error says."""
        self._cloud = cloud
        self._address = address.rstrip("/")
        self._authorize = authorize
        self._read = read
        self._opener = urllib.request.build_opener(_Stay)

    def get(self, path: str, **query: str) -> Any:
        """Ask for something."""
        asked = f"{path}?{urllib.parse.urlencode(query)}" if query else path
        return repeated(lambda: self._send("GET", asked, None))

    def send(self, method: str, path: str, body: object = None) -> Any:
        """Do something that may be done twice."""
        return repeated(lambda: self._send(method, path, body))

    def send_once(self, method: str, path: str, body: object = None) -> Any:
        """Do something that must not be done twice: nothing is repeated but what was refused."""
        return repeated(lambda: self._send(method, path, body), once=True)

    def _send(self, method: str, path: str, body: object) -> Any:
        content = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "User-Agent": "trainway"}
        request = urllib.request.Request(  # noqa: S310 - the address is the cloud's
            f"{self._address}{path}",
            data=content,
            headers={**headers, **self._authorize()},
            method=method,
        )
        try:
            with self._opener.open(request, timeout=LIMIT_S) as answer:
                return self._parsed(answer.read(MOST))
        except urllib.error.HTTPError as error:
            with error:
                text = error.read(MOST)
            try:
                found = json.loads(text)
            except ValueError:
                found = None
            raise RefusalError(self._cloud, error.code, self._read(error.code, found)) from error
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise ProviderError(
                f"{self._cloud}: {self._address} cannot be reached: {reason}",
                trouble=SILENT.trouble,
                scope=SILENT.scope,
            ) from error

    def _parsed(self, text: bytes) -> Any:
        try:
            return json.loads(text) if text.strip() else None
        except ValueError as error:
            raise ProviderError(
                f"{self._cloud}: {self._address} does not answer with JSON",
                trouble=SILENT.trouble,
                scope=SILENT.scope,
            ) from error


def status_meaning(status: int) -> Meaning:
    """What a refusal means whose code says nothing."""
    return STATUSES.get(status, SILENT if status >= 500 else OTHER)
