import os
import socket
import stat
from pathlib import Path

import pytest

from trainway.agent.base import unix_listener
from trainway.agent.base.directory import Directory


def test_a_socket_is_its_owners_alone(tmp_path: Path) -> None:
    with unix_listener.listen(Directory(str(tmp_path)), "a.sock") as listener:
        assert stat.S_IMODE((tmp_path / "a.sock").stat().st_mode) == 0o600
        assert unix_listener.accept(listener) is None
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(tmp_path / "a.sock"))
            accepted = unix_listener.accept(listener)
            assert accepted is not None
            with accepted:
                assert not accepted.getblocking()


def test_another_user_is_turned_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unix_listener, "ROOT", -1)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with (
        unix_listener.listen(Directory(str(tmp_path)), "a.sock") as listener,
        socket.socket(socket.AF_UNIX) as client,
    ):
        client.connect(str(tmp_path / "a.sock"))
        assert unix_listener.accept(listener) is None
        assert client.recv(1) == b""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "Expecting"),
        (b"[]", "not an object"),
        (b"1", "not an object"),
        (b"[" * 60_000, "too deep"),
    ],
    ids=lambda value: repr(value)[:10],
)
def test_a_line_that_is_no_object(line: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        unix_listener.parsed(line)
