import stat
from pathlib import Path

import pytest

from trainway.server.tokens import TokenFile, TokenFileError, digest, write_new_token


def test_a_new_token_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("old")
    path.chmod(0o644)
    token = write_new_token(path)
    assert path.read_text() == token + "\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["token"]
    assert TokenFile(path).accepts(token)


def test_a_link_that_waits_for_the_token_gets_none(tmp_path: Path) -> None:
    (tmp_path / ".token.new").symlink_to(tmp_path / "elsewhere")
    write_new_token(tmp_path / "token")
    assert not (tmp_path / "elsewhere").exists()


def test_a_disk_that_is_full_is_named_and_the_token_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "token"
    token = write_new_token(path)

    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("trainway.server.tokens.os.fsync", full)
    with pytest.raises(OSError, match="No space left on device") as raised:
        write_new_token(path)
    assert raised.value.filename == str(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["token"]
    assert TokenFile(path).accepts(token)


def test_a_token_that_is_replaced_counts_no_more(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "token")
    first = write_new_token(file.path)
    assert file.accepts(first)
    second = write_new_token(file.path)
    assert not file.accepts(first)
    assert file.accepts(second)


def test_without_its_file_nobody_has_the_token(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = TokenFile(tmp_path / "token")
    token = write_new_token(file.path)
    assert file.accepts(token)
    file.path.unlink()
    assert not file.accepts(token)
    assert not file.accepts("")
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    file.path.write_text(token)
    assert file.accepts(token)


def test_a_file_may_hold_the_digest(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(f"sha256:{digest('secret')}\n")
    assert TokenFile(path).accepts("secret")
    assert not TokenFile(path).accepts(digest("secret"))


@pytest.mark.parametrize("content", [None, b"", b"\n", b"\xff\xfe"])
def test_a_file_must_hold_a_token(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TokenFileError, match=str(path)):
        TokenFile(path).check()
