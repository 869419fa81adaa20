"""Buckets themselves: whether one is there, one more, one less.

obstore reads and writes objects only. It signs requests, however, and a bucket is made and removed
by a request without a key; so far for the stores that speak S3's protocol.
"""

import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final, Literal

from trainway.data.object_store import ObjectStore
from trainway.data.uri import Location
from trainway.errors import ForbiddenError, TrainwayError, UnavailableError, UsageError

_Method = Literal["HEAD", "PUT", "DELETE"]
_SCHEMES: Final = ("s3", "r2")
_PATIENCE_S: Final = 30.0
_VALID: Final = timedelta(minutes=5)
_HOME_REGIONS: Final = ("", "us-east-1", "auto")
"""Where a bucket is made unless a request says otherwise."""
_NOT_FOUND, _CONFLICT = 404, 409
_REFUSED: Final = (401, 403)


def exists(location: Location) -> bool:
    """Whether the bucket of a location is there."""
    _check(location)
    with _explained(location, "asked for"):
        try:
            _request(location, "HEAD")
        except urllib.error.HTTPError as error:
            if error.code == _NOT_FOUND:
                return False
            raise
    return True


def create(location: Location) -> bool:
    """Make the bucket where there is none; whether it was made."""
    if exists(location):
        return False
    region = ObjectStore(location).region
    body = b""
    if location.scheme == "s3" and region not in _HOME_REGIONS:
        place = f"<LocationConstraint>{region}</LocationConstraint>"
        body = f"<CreateBucketConfiguration>{place}</CreateBucketConfiguration>".encode()
    with _explained(location, "made"):
        _request(location, "PUT", body)
    return True


def remove(location: Location) -> bool:
    """Remove an empty bucket; whether it was there."""
    _check(location)
    with _explained(location, "removed"):
        try:
            _request(location, "DELETE")
        except urllib.error.HTTPError as error:
            if error.code == _NOT_FOUND:
                return False
            raise
    return True


def _check(location: Location) -> None:
    if location.scheme not in _SCHEMES:
        raise UsageError(
            f"{location.scheme}://{location.bucket}: buckets of {location.scheme}:// cannot be made"
            " or removed yet",
            hint="make it yourself, and name it as the source",
        )


def _request(location: Location, method: _Method, body: bytes = b"") -> None:
    url = ObjectStore(location).signed(method, _VALID)
    request = urllib.request.Request(url, data=body or None, method=method)  # noqa: S310 - of S3
    with urllib.request.urlopen(request, timeout=_PATIENCE_S):  # noqa: S310 - as above
        pass


@contextmanager
def _explained(location: Location, done: str) -> Iterator[None]:
    """Say what went wrong, and nothing of the signed request."""
    name = f"{location.scheme}://{location.bucket}"
    try:
        yield
    except urllib.error.HTTPError as error:
        raise _failure(name, done, error.code) from None
    except OSError:
        raise UnavailableError(f"{name} cannot be reached", hint="is the endpoint right?") from None


def _failure(name: str, done: str, status: int) -> TrainwayError:
    if status in _REFUSED:
        return ForbiddenError(
            f"{name}: your credentials do not allow that the bucket is {done}",
            hint="bucket names belong to everybody: it may be somebody else's; try another name",
        )
    if status == _CONFLICT:
        hint = "it is not empty, or somebody else has a bucket of that name"
        return UsageError(f"{name} cannot be {done}", hint=hint)
    return UnavailableError(f"{name} cannot be {done}: the store answered {status}")
