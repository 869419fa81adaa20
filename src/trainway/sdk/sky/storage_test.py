"""Buckets and volumes under SkyPilot's names."""

import pytest

from trainway.errors import NotFoundError
from trainway.json_types import Json
from trainway.sdk import sky
from trainway.sdk.storage_rest import StorageRest


class FakeRest(StorageRest):
    """A server with a volume and two buckets, one of which was there before."""

    def __init__(self) -> None:
        self.known: list[Json] = [
            {"name": "mine", "uri": "s3://mine", "made": False},
            {"name": "other", "uri": "s3://other", "made": False},
        ]
        self.named: dict[str, Json] = {}

    def buckets(self) -> list[Json]:
        return list(self.known)

    def forget_bucket(self, uri: str) -> Json:
        (gone,) = (each for each in self.known if each["uri"] == uri)
        self.known.remove(gone)
        return gone

    def volumes(self) -> list[Json]:
        return list(self.named.values())

    def apply_volume(self, volume: Json) -> Json:
        self.named[volume["name"]] = volume
        return volume

    def delete_volume(self, name: str) -> Json:
        return self.named.pop(name)


@pytest.fixture
def rest(monkeypatch: pytest.MonkeyPatch) -> FakeRest:
    made = FakeRest()
    monkeypatch.setattr(StorageRest, "connect", lambda: made)
    return made


def test_buckets(rest: FakeRest) -> None:
    assert [each["name"] for each in sky.get(sky.storage_ls())] == ["mine", "other"]
    sky.get(sky.storage_delete("mine"))
    assert [each["name"] for each in rest.known] == ["other"]
    with pytest.raises(NotFoundError, match="no task has named a bucket othr"):
        sky.storage_delete("othr")


def test_volumes(rest: FakeRest) -> None:
    sky.get(sky.volumes.apply({"name": "v", "type": "directory"}))
    assert [each["name"] for each in sky.get(sky.volumes.ls())] == ["v"]
    sky.volumes.delete(["v"])
    assert rest.named == {}
