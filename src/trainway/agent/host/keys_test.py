import os
import pwd
import shutil
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.agent.host import keys
from trainway.agent.host.keys import AuthorizedKeys, KeysError, public_key

KEY = "ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjE="
COMMAND = ["/usr/bin/python3", "/home/me/agent.pyz", "host", "join", "/home/me", "job-1"]
LINE = (
    'restrict,command="exec /usr/bin/python3 /home/me/agent.pyz host join /home/me job-1"'
    f" {KEY} trainway-job-job-1@a1\n"
)
USER = b"# mine\r\nssh-ed25519 AAAAC3Nz me@laptop\n\n\xff no newline at the end"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".ssh" / "authorized_keys"


def admitted(path: Path) -> list[str]:
    return [line.rsplit(" ", 1)[-1] for line in path.read_text().splitlines()]


def test_the_file_is_made_with_the_one_line(path: Path) -> None:
    AuthorizedKeys(str(path), "a1").admit("job-1", KEY + " comment\n", COMMAND)
    assert path.read_text() == LINE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [item.name for item in path.parent.iterdir()] == ["authorized_keys"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o400])
def test_all_else_stays_as_it_is(path: Path, mode: int) -> None:
    path.parent.mkdir()
    path.write_bytes(USER)
    path.chmod(mode)
    file = AuthorizedKeys(str(path), "a1")
    file.admit("job-1", KEY, COMMAND)
    assert path.read_bytes() == LINE.encode() + USER
    file.admit("job-1", KEY, COMMAND)
    assert path.read_bytes() == LINE.encode() + USER, "the same line is there once"
    file.dismiss("job-1")
    assert path.read_bytes() == USER
    assert stat.S_IMODE(path.stat().st_mode) == mode


@given(user=st.lists(st.sampled_from([b"a", b"ssh-rsa AAAA x", b"\n", b"\r\n", b" ", b"\xff"])))
def test_any_file_is_given_back(
    tmp_path_factory: pytest.TempPathFactory, user: list[bytes]
) -> None:
    path = tmp_path_factory.mktemp("keys") / "authorized_keys"
    path.write_bytes(b"".join(user))
    file = AuthorizedKeys(str(path), "a1")
    for job in ("one", "two"):
        file.admit(job, KEY, COMMAND)
    file.dismiss("one")
    file.keep_only([])
    assert path.read_bytes() == b"".join(user)


def test_a_file_without_lines_of_ours_is_not_written(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(USER)
    before = path.stat()
    AuthorizedKeys(str(path), "a1").dismiss("job-1")
    AuthorizedKeys(str(path), "a1").keep_only([])
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_no_file_is_made_to_dismiss_from(path: Path) -> None:
    AuthorizedKeys(str(path), "a1").keep_only([])
    assert not path.parent.exists()


def test_lines_of_unknown_jobs_go(path: Path) -> None:
    """Those of another host with the same home directory stay: that host knows its jobs."""
    here, there = AuthorizedKeys(str(path), "a1"), AuthorizedKeys(str(path), "a 2!")
    here.admit("old", KEY, COMMAND)
    here.admit("new", KEY, COMMAND)
    there.admit("old", KEY, COMMAND)
    with path.open("a") as file:
        file.write(f"restrict {KEY} trainway-job-old@a1\n")
    here.keep_only(["new"])
    assert admitted(path) == [
        "trainway-job-old@a-2-",
        "trainway-job-new@a1",
        "trainway-job-old@a1",
    ]
    assert path.read_text().splitlines()[-1].startswith("restrict ecdsa"), "not a line of ours"


def test_quotes_and_spaces_of_a_path_stay_within_the_command(path: Path) -> None:
    command = ["/home/a b/python", 'say "x"', "it's"]
    AuthorizedKeys(str(path), "a1").admit("job", KEY, command)
    text = path.read_text().partition('command="')[2].rpartition(f'" {KEY}')[0]
    words = text.replace('\\"', '"').replace("exec ", "printf '%s\\n' ", 1)
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == command
    assert '"' not in text.replace('\\"', ""), "every quote is escaped"


@dataclass(frozen=True)
class Wrong:
    name: str
    job: str = "job"
    key: str = KEY
    command: str = "join"


@pytest.mark.parametrize(
    "case",
    [
        Wrong("no key", key=""),
        Wrong("half a key", key="ssh-rsa"),
        Wrong("options before a key", key='command="x" ssh-rsa AAAA'),
        Wrong("private key", key="-----BEGIN EC PRIVATE KEY-----\nAAAA\n"),
        Wrong("job with a space", job="a b"),
        Wrong("job with a line break", job="a\nssh-rsa"),
        Wrong("path with a line break", command="a\nssh-rsa AAAA"),
    ],
    ids=lambda case: case.name,
)
def test_what_cannot_be_a_line_is_refused(path: Path, case: Wrong) -> None:
    with pytest.raises(KeysError):
        AuthorizedKeys(str(path), "a1").admit(case.job, case.key, [case.command])
    assert not path.exists()


def test_an_own_link_is_followed_and_stays(tmp_path: Path, path: Path) -> None:
    real = tmp_path / "dotfiles" / "keys"
    real.parent.mkdir()
    real.write_bytes(USER)
    path.parent.mkdir()
    path.symlink_to("../dotfiles/keys")
    AuthorizedKeys(str(path), "a1").admit("job-1", KEY, COMMAND)
    assert path.is_symlink()
    assert real.read_bytes() == LINE.encode() + USER


@pytest.mark.parametrize("part", ["folder", "link", "file"])
def test_nothing_of_another_owner_is_written_through(
    tmp_path: Path, path: Path, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tmp_path / "keys"
    real.write_bytes(USER)
    path.parent.mkdir()
    path.symlink_to(real)
    foreign = {"folder": path.parent, "link": path, "file": real}[part]
    lstat = os.lstat

    def seen(name: str) -> os.stat_result:
        found = lstat(name)
        owner = found.st_uid + (1 if Path(name) == foreign else 0)
        return os.stat_result((*found[:4], owner, *found[5:10]))

    monkeypatch.setattr("trainway.agent.host.keys.os.lstat", seen)
    with pytest.raises(KeysError, match="belongs to another user"):
        AuthorizedKeys(str(path), "a1").admit("job", KEY, COMMAND)
    assert real.read_bytes() == USER


def test_a_folder_in_its_place_is_refused(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(KeysError, match="is not a file"):
        AuthorizedKeys(str(path), "a1").admit("job", KEY, COMMAND)


def test_links_in_a_circle_are_refused(path: Path) -> None:
    path.parent.mkdir()
    path.symlink_to(path)
    with pytest.raises(KeysError, match="is not a file"):
        AuthorizedKeys(str(path), "a1").admit("job", KEY, COMMAND)


def test_jobs_that_come_and_go_at_once_lose_no_line(path: Path) -> None:
    """Eight processes change the file at the same time; what the user has stays."""
    path.parent.mkdir()
    path.write_bytes(USER)
    script = (
        "import sys; from trainway.agent.host.keys import AuthorizedKeys;"
        "file = AuthorizedKeys(sys.argv[1], 'a1'); job = sys.argv[2]\n"
        "for turn in range(20):\n"
        f"    file.admit(job, {KEY!r}, ['x']); file.dismiss(job)\n"
        f"file.admit(job, {KEY!r}, ['x'])"
    )

    def change(number: int) -> None:
        subprocess.run([sys.executable, "-c", script, str(path), f"job-{number}"], check=True)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(change, range(8)))
    ours = path.read_bytes()[: -len(USER)].decode()
    assert path.read_bytes().endswith(USER)
    found = sorted(line.rsplit(" ", 1)[-1] for line in ours.splitlines())
    assert found == [f"trainway-job-job-{number}@a1" for number in range(8)]
    assert [item.name for item in path.parent.iterdir()] == ["authorized_keys"]


def test_a_draft_of_one_that_died_is_no_obstacle(path: Path) -> None:
    path.parent.mkdir()
    Path(f"{path}.trainway").write_text("half a li")
    AuthorizedKeys(str(path), "a1").admit("job-1", KEY, COMMAND)
    assert path.read_text() == LINE
    assert [item.name for item in path.parent.iterdir()] == ["authorized_keys"]


def test_the_file_is_where_sshd_looks_whatever_home_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/nowhere")
    home = pwd.getpwuid(os.getuid()).pw_dir
    assert keys.authorized_keys({"TRAINWAY_AUTHORIZED_KEYS": "/etc/keys/me"}) == "/etc/keys/me"
    assert keys.authorized_keys({"HOME": "/nowhere"}) == f"{home}/.ssh/authorized_keys"


def test_host_keys_are_read_where_no_server_answers(tmp_path: Path) -> None:
    (tmp_path / "ssh_host_ed25519_key.pub").write_text("ssh-ed25519 AAAAC3Nz root@a1\n")
    (tmp_path / "ssh_host_rsa_key.pub").write_text("ssh-rsa AAAAB3Nz root@a1\n")
    (tmp_path / "ssh_host_rsa_key").write_text("secret\n")
    found = keys.host_keys("127.0.0.1", 1, str(tmp_path))
    assert found == ["ssh-ed25519 AAAAC3Nz", "ssh-rsa AAAAB3Nz"]
    assert keys.host_keys("127.0.0.1", 1, str(tmp_path / "none")) == []


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
def test_ssh_keygen_reads_the_line(tmp_path: Path, path: Path) -> None:
    own = tmp_path / "key"
    made = ["ssh-keygen", "-q", "-t", "ecdsa", "-b", "521", "-N", "", "-f", str(own)]
    subprocess.run(made, check=True)
    public = Path(f"{own}.pub").read_text()
    AuthorizedKeys(str(path), "a1").admit("job-1", public, COMMAND)
    lines = [
        subprocess.run(["ssh-keygen", "-l", "-f", name], capture_output=True, text=True, check=True)
        for name in (str(path), f"{own}.pub")
    ]
    listed, known = (line.stdout.split() for line in lines)
    assert listed[:2] == known[:2]
    assert listed[2] == "trainway-job-job-1@a1"
    assert public_key(public) == " ".join(public.split()[:2])
