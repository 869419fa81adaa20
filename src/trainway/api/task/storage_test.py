"""File mounts and volumes, as they are read."""

import pytest

from trainway.api.task import storage, volume
from trainway.api.task.storage import FileMount
from trainway.api.task.volume import VolumeMount


def test_file_mounts() -> None:
    bucket = {"name": "b", "mode": "MOUNT"}
    mounts = storage.read({"/a": "./a", "/b": "s3://b", "/c": bucket})

    assert mounts == (
        FileMount("/a", "./a"),
        FileMount("/b", "s3://b"),
        FileMount("/c", storage=bucket),
    )
    assert [mount.is_local for mount in mounts] == [True, False, False]
    assert storage.read(None) == ()


def test_volumes() -> None:
    given = {
        "/a": "claim",
        "/b": {"name": "claim", "sub_path": "x/y"},
        "/c": {"size": "1TB", "config": {"access_mode": "ReadWriteMany"}, "labels": {"a": "b"}},
        "/d": {"host_path": "/srv", "mode": "RO"},
    }

    assert volume.read(given) == (
        VolumeMount("/a", name="claim"),
        VolumeMount("/b", name="claim", sub_path="x/y"),
        VolumeMount("/c", size_gb=1024, config={"access_mode": "ReadWriteMany"}, labels={"a": "b"}),
        VolumeMount("/d", host_path="/srv", read_only=True),
    )


@pytest.mark.parametrize("scheme", storage.READABLE)
def test_what_can_be_read_can_be_mounted_and_is_told(scheme: str) -> None:
    assert list(storage.errors({"/data": f"{scheme}://some/where"}, (), has_workdir=False)) == []
    refused = list(storage.errors({"/data": "ftp://some/where"}, (), has_workdir=False))
    assert f"{scheme}://" in str(refused[0])
