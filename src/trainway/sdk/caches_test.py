"""How a cache in pods stands, and what its pods are given."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from trainway.data.flight.objects import CacheSpec
from trainway.errors import NotFoundError, UsageError
from trainway.json_types import Json
from trainway.sdk.caches import Cache, difference, table_keys, table_of
from trainway.sdk.job import Job


class Running:
    """A job whose nodes are as they are told."""

    status = "Running"

    def __init__(self, *nodes: Json) -> None:
        self._nodes = list(nodes)

    def done(self) -> bool:
        return False

    def to_dict(self) -> Json:
        return {"status": {"message": "2 of 3 nodes run", "nodes": self._nodes}}


def node(role: str, **more: Any) -> Json:
    return {"role": role, **more}


@pytest.mark.parametrize(
    ("nodes", "status"),
    [
        ([node("head", ready=True), node("worker", ready=False)], ("Ready", "")),
        ([node("head", ready=False), node("worker", ready=True)], ("Loading", "2 of 3 nodes run")),
        ([node("head", ready=False, message="no image")], ("Loading", "no image")),
        ([], ("Loading", "2 of 3 nodes run")),
    ],
)
def test_a_cache_in_pods_is_ready_when_its_head_is(
    nodes: list[Json], status: tuple[str, str]
) -> None:
    spec = CacheSpec("demo", "s3://b/t", 1, "image")
    cache = Cache(spec, cast("Job", Running(*nodes)), "k8s/lab", "")
    assert cache.status() == status


def test_what_is_another_cache_is_told_by_what_differs() -> None:
    spec = CacheSpec("words", "/table", 2, is_here=True)
    cache = Cache(spec, cast("Job", Running()), "local", "127.0.0.1")
    assert difference(cache, spec, "local") == ""
    assert difference(cache, replace(spec, has_token=True), "local") == (
        "it has no token (TRAINWAY_CACHE_TOKEN)"
    )
    other = replace(spec, workers=3, is_here=False)
    assert difference(cache, other, "ssh/lab") == (
        "its place is local, not ssh/lab and its number of workers is 2, not 3"
    )


def test_pods_are_given_the_keys_of_their_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "me")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://store")
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    assert table_keys("s3://bucket/table") == {
        "AWS_ACCESS_KEY_ID": "me",
        "AWS_SECRET_ACCESS_KEY": "hush",
        "AWS_ENDPOINT_URL": "http://store",
    }
    assert table_keys("/srv/table") == table_keys("https://host/table") == {}


def test_a_table_of_this_machine_must_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table").mkdir()
    assert table_of("table", is_here=True) == str(tmp_path / "table")
    with pytest.raises(NotFoundError, match="there is no tabel here"):
        table_of("tabel", is_here=True)
    assert table_of("/srv/table", is_here=False) == "/srv/table"
    for wrong in ("table", "s3:/bucket/table"):
        with pytest.raises(UsageError, match=f"{wrong} is not a URI"):
            table_of(wrong, is_here=False)
