"""What a task wants of buckets: which one is where, how it gets there, and who fills it. Pure.

`storage` checks what is written; here it gets its meaning. A bucket that a task only names is made
for it, in the store that it says.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from trainway.api.task.storage import FileMount, is_uri

SCHEMES: Final = {"S3": "s3", "GCS": "gs", "AZURE": "az", "R2": "r2"}
"""The scheme of each store in which a bucket can be named."""
HUB: Final = "hf"
_READABLE: Final = (*SCHEMES.values(), HUB)
_AZURE: Final = re.compile(r"https://[^/]+\.blob\.core\.windows\.net/(.+)")
_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_ADDRESS: Final = re.compile(r"\d{1,3}(\.\d{1,3}){3}")
_CACHED_FLAGS: Final = ("transfers", "buffer_size", "vfs_cache_max_size", "vfs_cache_max_age",
                        "vfs_read_ahead", "vfs_read_chunk_size", "vfs_read_chunk_streams",
                        "vfs_write_back")  # fmt: skip
"""What `config.mount_cached` sets of rclone, under the names of its options."""


class Mode(StrEnum):
    """How the content of a bucket comes to a path."""

    COPY = "COPY"
    MOUNT = "MOUNT"
    MOUNT_CACHED = "MOUNT_CACHED"


@dataclass(frozen=True)
class StorageMount:
    """A bucket, or a part of one, at a path of a task."""

    path: str
    uri: str
    mode: Mode = Mode.COPY
    sources: tuple[str, ...] = ()
    """The local files and folders that are put into it first."""
    has_list: bool = False
    """Whether each source goes into it under its own name; the content of a single folder goes
    right into it."""
    is_named: bool = False
    """Whether the task names the bucket, so that it is made where there is none."""
    is_persistent: bool = True
    is_read_only: bool = False
    flags: Mapping[str, str] = field(default_factory=dict)
    """Options of rclone."""

    @property
    def scheme(self) -> str:
        """The scheme of its URI."""
        return self.uri.partition("://")[0]

    @property
    def bucket(self) -> str:
        """The URI of the bucket alone."""
        return f"{self.scheme}://{self.place.partition('/')[0]}"

    @property
    def place(self) -> str:
        """Bucket and key."""
        return self.uri.partition("://")[2].rstrip("/")


def storage_mounts(mounts: Iterable[FileMount]) -> list[StorageMount]:
    """The file mounts that come from stores."""
    return [_mount(mount) for mount in mounts if not mount.is_local]


def problems(mounts: Iterable[FileMount]) -> Iterator[str]:
    """Why file mounts that are written correctly cannot be brought."""
    for mount in mounts:
        if not mount.is_local:
            found = next(_problems(mount), "")
            if found:
                yield f"file_mounts[{mount.path}]: {found}"


def bucket_error(name: str) -> str:
    """What is wrong with the name of a bucket; empty: nothing."""
    is_wrong = (
        not _BUCKET.fullmatch(name)
        or ".." in name
        or _ADDRESS.fullmatch(name) is not None
        or name.startswith("xn--")
        or name.endswith(("-s3alias", "--ol-s3"))
    )
    if not is_wrong:
        return ""
    return (
        f"name: {name!r} cannot be the name of a bucket: it needs 3 to 63 lower-case letters, "
        "digits, '-' and '.', with a letter or a digit at both ends, and must not look like an IP "
        "address"
    )


def _mount(mount: FileMount) -> StorageMount:
    if mount.storage is None:
        return StorageMount(mount.path, _uri(mount.source))
    said: Mapping[str, Any] = mount.storage
    source, name = said.get("source"), str(said.get("name") or "")
    mode = Mode(str(said.get("mode") or Mode.MOUNT).upper())
    config = said.get("config") or {}
    part = config.get("mount_cached" if mode is Mode.MOUNT_CACHED else "mount") or {}
    is_remote = isinstance(source, str) and is_uri(source)
    scheme = SCHEMES.get(str(said.get("store") or "S3").upper(), "")
    uri = _uri(str(source)) if is_remote else f"{scheme}://{name}"
    below = str(said.get("_bucket_sub_path") or "").strip("/")
    has_list = isinstance(source, list)
    sources = tuple(source) if isinstance(source, list) else () if is_remote else (source,)
    return StorageMount(
        mount.path,
        f"{uri.rstrip('/')}/{below}" if below else uri,
        mode,
        sources=tuple(str(each) for each in sources if each),
        has_list=has_list,
        is_named=not is_remote,
        is_persistent=said.get("persistent") is not False,
        is_read_only=bool(part.get("read_only")) or str(said.get("type") or "").endswith("_RO"),
        flags={
            name.replace("_", "-"): str(part[name])
            for name in _CACHED_FLAGS
            if mode is Mode.MOUNT_CACHED and part.get(name) is not None
        },
    )


def _problems(mount: FileMount) -> Iterator[str]:
    said: Mapping[str, Any] = mount.storage or {}
    source = mount.source or said.get("source")
    name, store = str(said.get("name") or ""), str(said.get("store") or "").upper()
    mode = str(said.get("mode") or Mode.MOUNT).upper() if mount.storage else Mode.COPY
    if not source and not name:
        yield "give a name or a source"
    if isinstance(source, str) and is_uri(source):
        scheme, _, rest = _uri(source).partition("://")
        if not {"", ".", ".."}.isdisjoint(rest.removesuffix("/").split("/")):
            yield f'source: {source}: a name in it is empty, "." or ".."'
        if scheme not in _READABLE:
            yield f"{scheme}:// is not supported yet; there are {_known()}"
        if name:
            yield "name: a source that is a URI names its bucket itself; leave out one of the two"
        if store and SCHEMES.get(store, store.lower()) != scheme:
            yield f"store: {store} is not where {source} is; leave it out"
        if scheme == HUB and mode != Mode.COPY:
            yield "the hub cannot be mounted; set mode: COPY"
        return
    if store and store not in SCHEMES:
        yield f"store: {store} is not supported yet; there are {', '.join(SCHEMES)}"
    if not name:
        yield "name: a local source needs the name of the bucket that it is copied to"
    wrong = bucket_error(name)
    if wrong:
        yield wrong
    if mode == Mode.COPY and not source:
        yield "source: COPY needs one; an empty bucket can only be mounted"


def _known() -> str:
    return ", ".join(f"{scheme}://" for scheme in _READABLE)


def _uri(text: str) -> str:
    azure = _AZURE.fullmatch(text)
    if azure:
        return f"az://{azure[1]}"
    scheme, _, rest = text.partition("://")
    return f"{scheme.lower()}://{rest}"
