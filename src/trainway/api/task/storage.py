"""`file_mounts`: what is brought to which path: local files, URIs, and storage objects."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainway.api.task.amounts import SIZE
from trainway.api.task.resources import DISK_TIERS
from trainway.json_types import Json
from trainway.schema.field import FieldError, Path, forbidden, invalid, key_step, required
from trainway.schema.shape import (
    COUNT,
    FLAG,
    TEXT,
    Either,
    Items,
    Record,
    Table,
    Word,
)

WORKDIR: Final = "~/sky_workdir"
STORES: Final = (
    "S3", "GCS", "AZURE", "R2", "IBM", "OCI", "NEBIUS", "COREWEAVE", "VASTDATA", "HF", "VOLUME",
)  # fmt: skip
READABLE: Final = ("s3", "gs", "az", "r2", "hf")
"""The schemes that tasks can use here."""
SCHEMES: Final = (*READABLE, "cos", "oci", "nebius", "cw", "vastdata")
_URI: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_AZURE: Final = re.compile(r"https://[^/]+\.blob\.core\.windows\.net/.+")
_FORMS: Final = (
    f"a URI must start with {', '.join(f'{name}://' for name in READABLE)}"
    " or be an https:// URI of Azure"
)

_CACHED: Final = Record(
    {
        "transfers": COUNT,
        "buffer_size": TEXT,
        "vfs_cache_max_size": TEXT,
        "vfs_cache_max_age": TEXT,
        "vfs_read_ahead": TEXT,
        "vfs_read_chunk_size": TEXT,
        "vfs_read_chunk_streams": COUNT,
        "vfs_write_back": TEXT,
        "read_only": FLAG,
    }
)
_CONFIG: Final = Record(
    {
        "disk_size": SIZE,
        "disk_tier": Word(DISK_TIERS),
        "storage_type": Word(("network", "instance")),
        "attach_mode": Word(("read_write", "read_only")),
        "mount_cached": _CACHED,
        "mount": Record({"read_only": FLAG, "hf_mount_args": Either((TEXT, Items(TEXT)))}),
    }
)
STORAGE: Final = Record(
    {
        "name": TEXT,
        "source": Either((TEXT, Items(TEXT, least=1))),
        "store": Word(STORES),
        "persistent": FLAG,
        "mode": Word(("MOUNT", "COPY", "MOUNT_CACHED")),
        "type": Word(("MODEL_CHECKPOINT_RO", "MODEL_CHECKPOINT_RW", "DATASET_RO", "DATASET_RW")),
        "config": _CONFIG,
    },
    keeps=("_is_sky_managed", "_bucket_sub_path", "_force_delete"),
)
SHAPE: Final = Table(Either((TEXT, STORAGE)))


@dataclass(frozen=True)
class FileMount:
    """What stands at one path."""

    path: str
    source: str = ""
    """A local path or a URI; empty where `storage` says what it is."""
    storage: Mapping[str, Any] | None = None

    @property
    def is_local(self) -> bool:
        """Whether it is a file or folder of the submitter's machine."""
        return self.storage is None and not is_uri(self.source)


def is_uri(text: str) -> bool:
    """Whether it is a URI of any scheme."""
    return _URI.fullmatch(text) is not None


def errors(data: Json, path: Path, *, has_workdir: bool) -> Iterator[FieldError]:
    """Everything that is wrong with file_mounts whose structure is right."""
    for target, source in data.items():
        place = (*path, key_step(target))
        if not target:
            yield forbidden(place, "the path is empty")
        elif target.endswith("/"):
            yield forbidden(place, "a path may not end with /")
        elif target == WORKDIR and has_workdir:
            yield forbidden(place, "workdir is copied to this path; leave out one of the two")
        if isinstance(source, str):
            yield from _source_errors(source, place)
        else:
            yield from _storage_errors(source, place)


def _storage_errors(storage: Json, path: Path) -> Iterator[FieldError]:
    source = storage.get("source")
    if isinstance(source, list):
        for index, item in enumerate(source):
            if is_uri(item):
                detail = "each of several sources must be a local path"
                yield invalid((*path, "source", index), item, detail)
            else:
                yield from _source_errors(item, (*path, "source", index))
    elif source is not None:
        yield from _source_errors(source, (*path, "source"))


def _source_errors(source: str, path: Path) -> Iterator[FieldError]:
    match = _URI.fullmatch(source)
    if not source:
        yield required(path, "give a local path or a URI")
    elif match and match[1].lower() not in SCHEMES and not _AZURE.fullmatch(source):
        yield invalid(path, source, _FORMS)
    elif match and not match[2].strip("/"):
        yield invalid(path, source, "it does not name a bucket")


def read(data: Json | None) -> tuple[FileMount, ...]:
    """The file mounts of data without errors."""
    return tuple(
        FileMount(path, source=source)
        if isinstance(source, str)
        else FileMount(path, storage=source)
        for path, source in (data or {}).items()
    )
