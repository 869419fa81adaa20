import json
from pathlib import Path

import pytest

from trainway.server.tokens import TokenFile
from trainway.server.web.sessions import LIFE_S, Sessions

HOST = "127.0.0.1:4000"


def opened(home: Path, now: float = 0.0) -> Sessions:
    return Sessions(home, TokenFile(home / "token"), lambda: now)


def test_a_session_goes_on_with_the_next_server(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.listens_at(4000)
    secret = first.begin(HOST)
    second = opened(tmp_path)
    assert second.find(secret, HOST) is not None
    assert second.last_port == 4000


def test_nobody_needs_the_port_of_sessions_that_are_over(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.listens_at(4000)
    first.begin(HOST)
    assert opened(tmp_path, LIFE_S + 1.0).last_port == 0


def test_the_file_has_no_secret_and_is_its_owners(tmp_path: Path) -> None:
    secret = opened(tmp_path).begin(HOST)
    path = tmp_path / "dashboard.json"
    assert secret not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"port": 1}', '{"port": "x", "sessions": []}', '{"sessions": [1]}']
)
def test_a_file_that_is_none_ends_the_sessions(text: str, tmp_path: Path) -> None:
    secret = opened(tmp_path).begin(HOST)
    (tmp_path / "dashboard.json").write_text(text)
    assert opened(tmp_path).find(secret, HOST) is None


def test_there_are_not_too_many(tmp_path: Path) -> None:
    now = [0.0]
    sessions = Sessions(tmp_path, TokenFile(tmp_path / "token"), lambda: now[0])
    secrets = []
    for _ in range(70):
        now[0] += 1
        secrets.append(sessions.begin(HOST))
    assert sessions.find(secrets[0], HOST) is None
    assert sessions.find(secrets[-1], HOST) is not None
    assert len(json.loads((tmp_path / "dashboard.json").read_text())["sessions"]) == 64


def test_a_disk_that_is_full_does_not_keep_anybody_out(tmp_path: Path) -> None:
    home = tmp_path / "gone"
    sessions = opened(home)
    assert sessions.find(sessions.begin(HOST), HOST) is not None


def test_all_are_logged_out(tmp_path: Path) -> None:
    sessions = opened(tmp_path)
    secrets = [sessions.begin(HOST) for _ in range(2)]
    assert sessions.end_all() == 2
    assert not any(sessions.find(secret, HOST) for secret in secrets)
