"""What storage of tasks means, and what of it cannot be brought."""

from dataclasses import dataclass
from typing import Any

import pytest

from trainway.api.task import storage
from trainway.api.task.storage_mount import Mode, StorageMount, problems, storage_mounts


@dataclass(frozen=True)
class Case:
    name: str
    given: Any
    expected: StorageMount | None = None
    problem: str = ""


CASES = [
    Case("a URI is copied", "S3://b/k", StorageMount("/x", "s3://b/k")),
    Case("a local path is none", "./data"),
    Case(
        "a URI of Azure",
        "https://acct.blob.core.windows.net/box/key",
        StorageMount("/x", "az://box/key"),
    ),
    Case(
        "a source is mounted",
        {"source": "gs://b", "type": "DATASET_RO"},
        StorageMount("/x", "gs://b", Mode.MOUNT, is_read_only=True),
    ),
    Case(
        "a name with a folder",
        {"name": "mine", "source": "./d", "mode": "copy", "persistent": False},
        StorageMount(
            "/x",
            "s3://mine",
            Mode.COPY,
            sources=("./d",),
            is_named=True,
            is_persistent=False,
        ),
    ),
    Case(
        "a name with a list, in another store",
        {"name": "mine", "source": ["a", "b"], "store": "r2", "_bucket_sub_path": "k/"},
        StorageMount(
            "/x", "r2://mine/k", Mode.MOUNT, sources=("a", "b"), has_list=True, is_named=True
        ),
    ),
    Case(
        "settings of the cache",
        {
            "name": "mine",
            "mode": "MOUNT_CACHED",
            "config": {"mount_cached": {"transfers": 8, "vfs_write_back": "5s", "read_only": True}},
        },
        StorageMount(
            "/x",
            "s3://mine",
            Mode.MOUNT_CACHED,
            is_named=True,
            is_read_only=True,
            flags={"transfers": "8", "vfs-write-back": "5s"},
        ),
    ),
    Case("a way out", "s3://b/../x", problem="source: s3://b/../x: a name in it is empty"),
    Case("no bucket", {"source": "s3:///x"}, problem="source: s3:///x: a name in it is empty"),
    Case("a store that we cannot read", "cos://us/b", problem="cos:// is not supported yet; there"),
    Case("a store to make", {"name": "abc", "store": "OCI"}, problem="store: OCI is not supported"),
    Case("neither name nor source", {"mode": "MOUNT"}, problem="give a name or a source"),
    Case(
        "two buckets", {"name": "abc", "source": "s3://b"}, problem="name: a source that is a URI"
    ),
    Case("another store", {"source": "s3://b", "store": "GCS"}, problem="store: GCS is not where"),
    Case("the hub mounted", {"source": "hf://a/b"}, problem="the hub cannot be mounted"),
    Case("a source without a name", {"source": "./d"}, problem="name: a local source needs"),
    Case("an empty copy", {"name": "abc", "mode": "COPY"}, problem="source: COPY needs one"),
    Case("an upper-case name", {"name": "Abc"}, problem="name: 'Abc' cannot be the name"),
    Case("a short name", {"name": "ab"}, problem="name: 'ab' cannot be the name"),
    Case("an address", {"name": "10.0.0.1"}, problem="name: '10.0.0.1' cannot be the name"),
    Case("two dots", {"name": "a..b"}, problem="name: 'a..b' cannot be the name"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_storage(case: Case) -> None:
    mounts = storage.read({"/x": case.given})
    said = list(problems(mounts))
    if case.problem:
        assert said == [said[0]]
        assert said[0].startswith(f"file_mounts[/x]: {case.problem}")
    else:
        assert said == []
        assert storage_mounts(mounts) == ([case.expected] if case.expected else [])
