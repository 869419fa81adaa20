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


def test_one_is_logged_out_and_all_others(tmp_path: Path) -> None:
    sessions = opened(tmp_path)
    secrets = [sessions.begin(HOST) for _ in range(4)]
    found = [sessions.find(secret, HOST) for secret in secrets]
    ids = [session.id for session in found if session]
    assert len(set(ids)) == 4
    assert sessions.end_one(ids[0])
    assert not sessions.end_one(ids[0])
    assert not sessions.end_one("")
    assert sessions.end_all(keep=ids[1]) == 2
    assert [opened(tmp_path).find(secret, HOST) is not None for secret in secrets] == [
        False,
        True,
        False,
        False,
    ]


def test_it_is_known_where_and_when_a_session_began_and_was_seen(tmp_path: Path) -> None:
    now = [1000.0]
    sessions = Sessions(tmp_path, TokenFile(tmp_path / "token"), lambda: now[0])
    secret = sessions.begin(HOST, "10.0.0.7", "Mozilla/5.0\x1b[2J\n" + "x" * 500)
    now[0] = 2000.0
    sessions.find(secret, HOST)
    (session,) = opened(tmp_path, 2000.0).all()
    assert (session.began, session.seen, session.address) == (1000.0, 2000.0, "10.0.0.7")
    assert session.agent.startswith("Mozilla/5.0[2Jxxx")
    assert len(session.agent) <= 200
    assert secret not in session.id


def test_looking_at_a_page_writes_the_file_seldom(tmp_path: Path) -> None:
    now = [1000.0]
    sessions = Sessions(tmp_path, TokenFile(tmp_path / "token"), lambda: now[0])
    secret = sessions.begin(HOST)
    written = (tmp_path / "dashboard.json").stat().st_ino
    for _ in range(9):
        now[0] += 61.0
        assert sessions.find(secret, HOST) is not None
    assert (tmp_path / "dashboard.json").stat().st_ino == written
    assert sessions.all()[0].seen == now[0]


def test_a_file_of_an_older_server_is_understood(tmp_path: Path) -> None:
    secret = opened(tmp_path).begin(HOST)
    path = tmp_path / "dashboard.json"
    content = json.loads(path.read_text())
    for entry in content["sessions"]:
        for name in ("address", "agent", "seen"):
            del entry[name]
    path.write_text(json.dumps(content))
    sessions = opened(tmp_path)
    assert (sessions.all()[0].address, sessions.all()[0].seen) == ("", 0.0)
    assert sessions.find(secret, HOST) is not None
