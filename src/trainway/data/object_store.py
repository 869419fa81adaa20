"""Buckets of S3, Google Cloud Storage, Azure and R2, through obstore.

obstore is the extra `data`. What it says of a failure has requests and signatures in it, so nothing
of that is passed on but the store's own word for what is wrong.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from trainway.data import plain_reading
from trainway.data.hidden_variables import hidden
from trainway.data.plain_reading import PlainReading, is_plain
from trainway.data.profile import (
    HIDDEN_FROM_R2,
    SERVICE_ENDPOINT,
    az_config,
    check_address,
    gs_config,
    known_credential,
    r2_config,
    s3_config,
    s3_keys,
    without_keys,
)
from trainway.data.signature import Keys
from trainway.data.store import PART_SIZE, ChangedError, Entry, Piece
from trainway.data.uri import OBJECT_STORES, Location
from trainway.errors import (
    ForbiddenError,
    NotFoundError,
    TrainwayError,
    UnavailableError,
    UsageError,
)

if TYPE_CHECKING:
    from trainway.data.multipart import Parts
    from trainway.data.part_targets import PartTargets

_PART: Final = 8 << 20
_PARTS_AT_ONCE: Final = 4
_CHUNK: Final = 1 << 18
"""Bytes are passed on as they come; whole parts would be copied once more to be in one piece."""
_MOST_PARTS: Final = 9_000
"""S3 takes 10,000."""
_CONNECT: Final = timedelta(seconds=10)
_SIGNED_FOR: Final = timedelta(minutes=15)
_RETRIES: Final = {"max_retries": 5, "retry_timeout": timedelta(seconds=60)}
_CODE: Final = re.compile(r"<Code>(\w{1,60})</Code>")
_STATUS: Final = re.compile(r"status code: (\d{3})")
_STRANGE: Final = re.compile(r'path: ("(?:[^"\\]|\\.){1,1024}")')
_REFUSED: Final = {"401", "403"}
_CREDENTIALS: Final = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the profile that AWS_PROFILE names in"
    " ~/.aws, or the role of the instance",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS, gcloud auth application-default login, or the service"
    " account of the instance",
    "az": "AZURE_STORAGE_ACCOUNT_NAME with AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN, or"
    " the identity of the machine",
    "r2": "R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY, or the profile [r2] of"
    " ~/.cloudflare/r2.credentials",
}
_NO_BUCKET: Final = {"NoSuchBucket", "ContainerNotFound"}
_BAD_KEYS: Final = {"InvalidAccessKeyId", "SignatureDoesNotMatch", "XAdminUserNotFound"}
_ELSEWHERE: Final = {"PermanentRedirect", "AuthorizationHeaderMalformed"}
_FULL: Final = {"InsufficientStorage", "XMinioStorageFull", "QuotaExceeded"}


class ObjectStore:
    """One bucket."""

    def __init__(self, location: Location) -> None:
        if find_spec("obstore") is None:
            kind = OBJECT_STORES[location.scheme]
            raise UnavailableError(
                f"obstore is not installed, and {kind} needs it",
                hint="pip install 'trainway[data]'",
            )
        self._location = location
        foreign = HIDDEN_FROM_R2 if location.scheme == "r2" else ()
        with self._told(location.key), hidden(foreign):
            self._store, endpoint, self._keys = _store(location)
        self._targets: PartTargets | None = None
        self._plain = PlainReading(self._signed) if is_plain(endpoint, os.environ) else None

    @property
    def part_size(self) -> int:
        """Larger parts where each one counts more than the bytes in it."""
        return PART_SIZE if self._plain is None else plain_reading.PART_SIZE

    def stat(self, key: str) -> Entry | None:
        """The object of that key."""
        import obstore  # noqa: PLC0415 - an extra

        if not key:
            return None
        with self._told(key):
            try:
                return _entry(obstore.head(self._store, key))
            except FileNotFoundError:
                return None

    def list(self, folder: str) -> Iterator[Entry]:
        """The objects below a folder."""
        import obstore  # noqa: PLC0415 - an extra

        with self._told(folder):
            pages = obstore.list(self._store, f"{folder}/" if folder else None)
            for page in pages:
                yield from map(_entry, page)

    def read(self, entry: Entry, start: int, end: int) -> Iterator[Piece]:
        """A part of an object that must still have its etag."""
        import obstore  # noqa: PLC0415 - an extra

        options: Any = {"range": (start, end)} | ({"if_match": entry.etag} if entry.etag else {})
        with self._told(entry.key):
            plain = self._plain
            pieces = plain.read(entry.key, entry.etag, start, end) if plain else None
            if pieces is not None:
                yield from pieces
                return
            found = obstore.get(self._store, entry.key, options=options)
            if _etag(found.meta) != entry.etag:
                raise ChangedError(f"{self._location.of(entry.key)} changed while it was read")
            for chunk in found.stream(min_chunk_size=_CHUNK):
                yield memoryview(chunk)

    def _signed(self, key: str) -> str | None:
        """The address of an object, as long as there is something to sign it with."""
        import obstore  # noqa: PLC0415 - an extra
        from obstore.exceptions import BaseError  # noqa: PLC0415 - an extra

        try:
            return obstore.sign(self._store, "GET", key, _SIGNED_FOR)
        except BaseError:
            self._plain = None
            return None

    def write(self, key: str, size: int, chunks: Iterable[bytes]) -> None:
        """Make an object; in parts, if it is large."""
        import obstore  # noqa: PLC0415 - an extra

        with self._told(key):
            if size <= _PART:  # one request, where parts take three at least
                obstore.put(self._store, key, b"".join(chunks), use_multipart=False)
                return
            obstore.put(
                self._store,
                key,
                iter(chunks),
                chunk_size=sent_part_size(size),
                max_concurrency=_PARTS_AT_ONCE,
            )

    def parts(self, key: str) -> "Parts | None":
        """The object, to be sent part by part; None: nobody can go on with what was sent."""
        from trainway.data.part_targets import PartTargets  # noqa: PLC0415 - only to send

        if self._targets is None:
            self._targets = PartTargets(self._store, self._keys, _text)
        location = self._location.of(key)
        with self._told(key):
            return self._targets.of(location, lambda error: failure(location, error))

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects, many with one request where the store can."""
        import obstore  # noqa: PLC0415 - an extra

        with self._told(self._location.key):
            try:
                obstore.delete(self._store, list(keys))
            except FileNotFoundError:  # Google and Azure say so, and leave others where they are
                for key in keys:
                    self._delete(key)

    def _delete(self, key: str) -> None:
        import obstore  # noqa: PLC0415 - an extra

        try:
            obstore.delete(self._store, key)
        except FileNotFoundError as error:
            if _code(error) in _NO_BUCKET:
                raise

    def signed(self, method: Literal["HEAD", "PUT", "DELETE"], valid: timedelta) -> str:
        """The URL of a request for the bucket itself; whoever has it may make the request."""
        import obstore  # noqa: PLC0415 - an extra

        with self._told(""):
            return str(obstore.sign(self._store, method, "", valid))

    @property
    def region(self) -> str:
        """Where the bucket is; empty: nobody said."""
        return str(self._store.config.get("region") or "")

    @contextmanager
    def _told(self, key: str) -> Iterator[None]:
        """Say in our words what the store says of a failure."""
        try:
            yield
        except (TrainwayError, GeneratorExit):
            raise
        except Exception as error:
            from obstore.exceptions import (  # noqa: PLC0415 - an extra
                BaseError,
                InvalidPathError,
                PreconditionError,
            )

            if isinstance(error, InvalidPathError):
                raise _strange_name(self._location.of(key), error) from None
            if isinstance(error, PreconditionError):
                changed = f"{self._location.of(key)} changed while it was read"
                raise ChangedError(changed) from None
            if isinstance(error, (BaseError, OSError, ValueError)):
                raise failure(self._location.of(key), error) from None
            raise


def sent_part_size(size: int) -> int:
    """The size of the parts in which an object of that size is sent."""
    return max(_PART, -(-size // _MOST_PARTS))


def failure(location: Location, error: Exception) -> TrainwayError:
    """What to say of a request that failed; nothing of it is repeated but the store's code."""
    where, scheme = f"{location.scheme}://{location.bucket}", location.scheme
    code, status = _code(error), _STATUS.search(str(error))
    number = status[1] if status else ""
    if code in _NO_BUCKET:
        what = "container" if scheme == "az" else "bucket"
        return NotFoundError(f"there is no {what} {where}", hint="is the endpoint the right one?")
    if number in _REFUSED or code in _BAD_KEYS:
        return ForbiddenError(
            f"access to {location} was denied ({code or number})",
            hint=f"credentials come from {_CREDENTIALS[scheme]}",
        )
    if number == "301" or code in _ELSEWHERE:
        return UsageError(f"{where} is in another region", hint="name its region in AWS_REGION")
    if isinstance(error, FileNotFoundError) or number == "404":
        return NotFoundError(f"there is nothing at {location}")
    if isinstance(error, ValueError):
        return UsageError(f"{location}: the name, or a setting of {scheme}://, is not valid")
    if number == "507" or code in _FULL:
        return UnavailableError(f"{where} has no room left ({code or number})", hint="make room")
    said = f"answered {code or number}" if code or number else "cannot be reached"
    return UnavailableError(
        f"{where} {said}",
        hint="is the endpoint the right one, and are there credentials? They come from"
        f" {_CREDENTIALS[scheme]}",
    )


def _strange_name(location: Location, error: Exception) -> TrainwayError:
    """What to say of an object among others of which obstore tells none then."""
    found = _STRANGE.search(str(error))
    named = f": {found[1]}" if found else ""
    return UsageError(
        f"{location} has an object whose name is none of a file{named}",
        hint="a name has no control characters, and none of its parts is empty, '.' or '..'; rename"
        " the object, or name a folder without it",
    )


def _code(error: Exception) -> str:
    match = _CODE.search(str(error))
    return match[1] if match else ""


def _entry(found: Any) -> Entry:
    modified = found["last_modified"].timestamp()
    return Entry(found["path"], found["size"], _etag(found), modified)


def _etag(found: Any) -> str:
    """The etag as requests have it: Azure and Google leave its quotation marks out of lists."""
    etag = found["e_tag"] or ""
    return etag if not etag or etag.endswith('"') else f'"{etag}"'


def _store(location: Location) -> tuple[Any, str, Keys | None]:
    """The store, where it is if somebody says so, and what it is asked with by ourselves."""
    from obstore import store  # noqa: PLC0415 - an extra

    more: Any = {"retry_config": _RETRIES}
    options: Any = {"connect_timeout": _CONNECT, "timeout": timedelta(minutes=5)}
    home = str(Path.home())
    if location.scheme in {"s3", "r2"}:
        find = s3_config if location.scheme == "s3" else r2_config
        config: Any = find(os.environ, home, _text)
        endpoint = config.get("aws_endpoint") or os.environ.get("AWS_ENDPOINT") or ""
        if endpoint:
            check_address(location.scheme, endpoint)
        if endpoint.startswith("http://"):
            options["allow_http"] = True
        made = _s3_store(location.bucket, config, {"client_options": options, **more})
        return made, endpoint, s3_keys(os.environ, config)
    config = (gs_config if location.scheme == "gs" else az_config)(os.environ)
    for name in {"google_base_url", "azure_storage_endpoint"} & config.keys():
        check_address(location.scheme, config[name])
    if any(value.startswith("http://") for value in config.values()):
        options["allow_http"] = True
    kind = store.GCSStore if location.scheme == "gs" else store.AzureStore
    return kind(location.bucket, config=config, client_options=options, **more), "", None


def _s3_store(bucket: str, config: dict[str, str], more: dict[str, Any]) -> Any:
    from obstore import store  # noqa: PLC0415 - an extra
    from obstore.exceptions import UnknownConfigurationKeyError  # noqa: PLC0415 - an extra

    credential = known_credential(config)
    settings: Any = config
    if credential is not None:
        settings = without_keys(config)
        more = {**more, "credential_provider": credential}
    try:
        return store.S3Store(bucket, config=settings, **more)
    except UnknownConfigurationKeyError:
        settings = {name: text for name, text in settings.items() if name != SERVICE_ENDPOINT}
        return store.S3Store(bucket, config=settings, **more)


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
