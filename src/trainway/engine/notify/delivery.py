"""Delivers one notice over HTTP. Blocks: call it in a thread."""

import http.client
import urllib.error
import urllib.request
from http import HTTPStatus
from typing import Any, Final

from trainway.notify.message import HttpRequest

_TIMEOUT_S: Final = 10.0
_LONGEST: Final = 300
_WORTH_ANOTHER_TRY: Final = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)


class DeliveryError(Exception):
    """Why a notice did not arrive; `is_final`: another attempt would not help."""

    def __init__(self, message: str, *, is_final: bool = False) -> None:
        super().__init__(message)
        self.is_final = is_final


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Whoever was to be told is told, and nobody else: headers may hold secrets."""

    def redirect_request(self, *_args: Any) -> None:
        return None


def deliver(request: HttpRequest) -> None:
    """Send it; a DeliveryError says why it did not arrive."""
    sent = urllib.request.Request(  # noqa: S310 - the settings allow http and https only
        request.url, request.body, request.headers, method="POST"
    )
    opener = urllib.request.build_opener(_NoRedirects)
    try:
        with opener.open(sent, timeout=_TIMEOUT_S):
            return
    except urllib.error.HTTPError as error:
        with error:
            is_final = error.code < HTTPStatus.INTERNAL_SERVER_ERROR
            is_final = is_final and error.code not in _WORTH_ANOTHER_TRY
            said = f"it answers {error.code} {_shown(error.reason)}".strip()
            raise DeliveryError(said, is_final=is_final) from None
    except urllib.error.URLError as error:
        raise DeliveryError(f"it cannot be reached: {_shown(error.reason)}") from None
    except (OSError, http.client.HTTPException) as error:
        said = _shown(error) or type(error).__name__
        raise DeliveryError(f"it cannot be reached: {said}") from None
    except ValueError as error:
        said = f"its URL cannot be used: {_shown(error)}"
        raise DeliveryError(said, is_final=True) from None


def _shown(said: object) -> str:
    """What somebody else has said, fit for a line of a log."""
    text = str(said)[:_LONGEST]
    return "".join(each if each.isprintable() else " " for each in text).strip()
