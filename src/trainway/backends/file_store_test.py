import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from trainway.backends.file_store import FileStore, check_files, keep_files
from trainway.errors import ConflictError, UnavailableError, UsageError


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def standing_for(*contents: bytes) -> list[dict[str, object]]:
    values = {str(index): {"$file": digest(data)} for index, data in enumerate(contents)}
    return [{"kind": "ConfigMap", "binaryData": values}]


def sent(store: FileStore, data: bytes) -> str:
    incoming = store.begin(digest(data))
    incoming.append(data[:2])
    incoming.append(data[2:])
    incoming.finish()
    return digest(data)


def test_what_is_here_is_not_missing(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "home")
    name = sent(store, b"content")
    assert store.missing([name, digest(b"other"), name]) == [digest(b"other")]
    assert FileStore(tmp_path / "home").missing([name]) == []


def test_another_content_is_refused(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    incoming = store.begin(digest(b"right"))
    incoming.append(b"wrong")
    with pytest.raises(ConflictError, match="changed while it was sent"):
        incoming.finish()
    assert list((tmp_path / "blobs").iterdir()) == []


def test_what_does_not_come_to_its_end_leaves_nothing(tmp_path: Path) -> None:
    incoming = FileStore(tmp_path).begin(digest(b"whole"))
    incoming.append(b"who")
    incoming.close()
    assert list((tmp_path / "blobs").iterdir()) == []


def test_what_a_killed_server_left_goes(tmp_path: Path) -> None:
    FileStore(tmp_path).begin(digest(b"whole")).append(b"who")
    assert FileStore(tmp_path).missing([digest(b"whole")]) == [digest(b"whole")]
    assert list((tmp_path / "blobs").iterdir()) == []


def test_what_others_have_in_the_folder_stays(tmp_path: Path) -> None:
    (tmp_path / "blobs" / "old.d").mkdir(parents=True)
    (tmp_path / "blobs" / "thesis.pdf").write_bytes(b"1")
    FileStore(tmp_path).missing([])
    assert {path.name for path in (tmp_path / "blobs").iterdir()} == {"old.d", "thesis.pdf"}


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "F" * 64])
def test_a_name_that_is_no_digest_is_refused(tmp_path: Path, name: str) -> None:
    store = FileStore(tmp_path)
    with pytest.raises(UsageError, match="not a digest"):
        store.missing([name])
    with pytest.raises(UsageError, match="not a digest"):
        store.begin(name)


def test_a_disk_that_takes_no_more_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = FileStore(tmp_path)
    incoming, other = store.begin(digest(b"whole")), store.begin(digest(b""))

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    steps: dict[str, Callable[[], object]] = {
        "trainway.agent.transfer.blobs.Part.append": lambda: incoming.append(b"x"),
        "trainway.agent.transfer.blobs.os.replace": other.finish,
        "trainway.agent.transfer.blobs.os.utime": lambda: store.missing([digest(b"x")]),
        "trainway.agent.transfer.blobs.Part.__init__": lambda: store.begin(digest(b"x")),
    }
    for place, step in steps.items():
        monkeypatch.setattr(place, full)
        with pytest.raises(UnavailableError) as raised:
            step()
        told = f"cannot keep files in {tmp_path}/blobs: No space left on device"
        assert told in raised.value.message
        assert raised.value.hint == "free some space on that disk, then try again"


def test_a_job_keeps_its_files(tmp_path: Path) -> None:
    home, job = tmp_path / "home", tmp_path / "job"
    job.mkdir()
    store = FileStore(home)
    name = sent(store, b"content")
    check_files(home, standing_for(b"content"))
    keep_files(home, standing_for(b"content"), job)
    assert (job / "blobs" / name).samefile(home / "blobs" / name)


def test_files_that_are_gone_are_told(tmp_path: Path) -> None:
    home, job = tmp_path / "home", tmp_path / "job"
    job.mkdir()
    sent(FileStore(home), b"content")
    objects = standing_for(b"content", b"other", b"third")
    with pytest.raises(ConflictError, match="2 files of it are not on the server any more"):
        check_files(home, objects)
    with pytest.raises(ConflictError, match="2 files of it"):
        keep_files(home, objects, job)


def test_a_job_without_files_needs_no_folder(tmp_path: Path) -> None:
    keep_files(tmp_path / "home", [{"kind": "ConfigMap", "data": {"a": "b"}}], tmp_path / "job")
    assert list(tmp_path.iterdir()) == []
