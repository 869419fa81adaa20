import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Mapping
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import pytest

from trainway.agent.base.event_loop import EventLoop
from trainway.agent.base.launch import digest, write_zip
from trainway.agent.transfer import link as link_module
from trainway.agent.transfer.link import ROOM, Archive, Link, LinkListener
from trainway.agent.transfer.ssh_command import BAD_COPY, copy_script
from trainway.agent.transfer.ssh_failure import Failure
from trainway.json_types import Json

PATIENCE = 60.0
ECHO = """
import json, sys
for line in sys.stdin:
    frame = json.loads(line)
    if frame["op"] == "end":
        break
    if frame["op"] == "junk":
        print("not json", flush=True)
    print(json.dumps({"event": "echo", "said": frame, "words": sys.argv[1:]}), flush=True)
"""
FAKE_SSH = """#!/bin/sh
for last; do :; done
case "$last" in *umask*) echo copy;; *) echo connect;; esac >> "$HOME/calls"
echo "Welcome to $HOME"
eval "$last"
"""


class Listener(LinkListener):
    def __init__(self) -> None:
        self.seen: list[str] = []
        self.frames: list[Json] = []
        self.failures: list[Failure] = []

    def on_connected(self) -> None:
        self.seen.append("connected")

    def on_frame(self, frame: Json) -> None:
        self.seen.append("frame")
        self.frames.append(frame)

    def on_down(self, failure: Failure) -> None:
        self.seen.append("down")
        self.failures.append(failure)


class Trial:
    """A link to a host that is a folder, by an `ssh` that runs everything here."""

    def __init__(self, folder: Path, ssh: str = FAKE_SSH, **host: object) -> None:
        self.home = folder / "home"
        self.bin = folder / "bin"
        for made in (self.home, self.bin):
            made.mkdir()
        program = self.bin / "ssh"
        program.write_text(ssh)
        program.chmod(0o755)
        archive = folder / "agent.pyz"
        archive.write_text(ECHO)
        self.loop = EventLoop()
        self.listener = Listener()
        settings: Json = {"name": "a", "destination": "me@a", "python": sys.executable, **host}
        made_archive = Archive(str(archive), "d1")
        self.link = Link(settings, self.loop, lambda: made_archive, self.listener, self.env)

    def env(self) -> Mapping[str, str]:
        return {"HOME": str(self.home), "PATH": f"{self.bin}:/usr/bin:/bin"}

    def until(self, wanted: Callable[[], object]) -> None:
        give_up = time.monotonic() + PATIENCE
        while not wanted():
            assert time.monotonic() < give_up, self.listener.seen
            timer = self.loop.call_later(0.5, lambda: None)
            self.loop.turn()
            timer.cancel()

    def calls(self) -> list[str]:
        return (self.home / "calls").read_text().split()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_module, "RETRY_SECONDS", 0.01)


def test_the_agent_is_copied_once_and_then_spoken_to(tmp_path: Path) -> None:
    trial = Trial(tmp_path)
    trial.link.open()
    assert not trial.link.send({"op": "too early"})
    trial.until(lambda: trial.link.is_connected)
    assert trial.link.send({"op": "junk"})
    trial.until(lambda: trial.listener.frames)
    words = ["host", "connect", "--home", f"{trial.home}/.trainway/host/{os.uname().nodename}"]
    assert trial.listener.frames == [{"event": "echo", "said": {"op": "junk"}, "words": words}]
    assert trial.calls() == ["connect", "copy", "connect"]
    installed = trial.home / ".trainway" / "agent" / "d1.pyz"
    assert installed.read_text() == ECHO
    assert installed.stat().st_mode & 0o077 == 0
    trial.link.drop()
    trial.until(lambda: trial.listener.seen.count("connected") == 2)
    assert trial.calls() == ["connect", "copy", "connect", "connect"]
    assert trial.listener.failures[0].message == "it does not answer"
    trial.link.close()


def test_it_is_made_again_whenever_it_ends(tmp_path: Path) -> None:
    trial = Trial(tmp_path)
    trial.link.open()
    for _ in range(3):
        trial.until(lambda: trial.link.is_connected)
        trial.link.send({"op": "end"})
        trial.until(lambda: not trial.link.is_connected)
    trial.until(lambda: len(trial.listener.failures) == 3)
    assert trial.listener.failures[0].message == "the connection ended (status 0)"
    trial.link.close()


def test_what_ssh_says_is_the_reason(tmp_path: Path) -> None:
    trial = Trial(
        tmp_path, '#!/bin/sh\necho "me@a: Permission denied (publickey)." >&2\nexit 255\n'
    )
    trial.link.open()
    trial.until(lambda: len(trial.listener.failures) == 2)
    assert trial.listener.failures[0].message == "the login was refused (publickey)"
    assert "connected" not in trial.listener.seen
    trial.link.close()


def test_a_host_without_python(tmp_path: Path) -> None:
    trial = Trial(tmp_path, python="no-such-python")
    trial.link.open()
    trial.until(lambda: trial.listener.failures)
    assert trial.listener.failures[0].message == "there is no no-such-python on the host"
    trial.link.close()


def test_no_ssh_here(tmp_path: Path) -> None:
    trial = Trial(tmp_path)
    (trial.bin / "ssh").unlink()
    trial.link._env = lambda: {"PATH": str(trial.bin)}
    trial.link.open()
    trial.until(lambda: trial.listener.failures)
    assert trial.listener.failures[0].message == "there is no program ssh here"
    trial.link.close()


def test_one_that_says_nothing_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_module, "CONNECT_SECONDS", 0.05)
    trial = Trial(tmp_path, "#!/bin/sh\nexec sleep 1000\n")
    trial.link.open()
    trial.until(lambda: trial.listener.failures)
    assert trial.listener.failures[0].message == "it does not answer"
    trial.link.close()


def test_without_a_network(tmp_path: Path) -> None:
    script = tmp_path / "echo.py"
    script.write_text(ECHO)
    trial = Trial(tmp_path, command=[sys.executable, str(script), "x"])
    trial.link.open()
    assert trial.link.send({"op": "hello"})
    trial.until(lambda: trial.listener.frames)
    assert trial.listener.frames[0]["words"] == ["x"]
    trial.link.close()
    assert not trial.link.send({"op": "hello"})


def test_who_reads_slowly_is_written_to_slowly(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    script = tmp_path / "slow.py"
    script.write_text(f"open({str(gate)!r}).read()\n{ECHO}")
    trial = Trial(tmp_path, command=[sys.executable, str(script)])
    trial.link.open()
    rooms: list[int] = []
    piece = "x" * (256 * 1024)
    for _ in range(16):
        trial.link.send({"op": "blob", "data": piece})
    assert trial.link.backlog > ROOM
    trial.link.when_room(lambda: rooms.append(trial.link.backlog))
    trial.loop.call_later(0, lambda: None)
    trial.loop.turn()
    assert rooms == []
    gate.write_text("")
    trial.until(lambda: len(trial.listener.frames) == 16)
    assert len(rooms) == 1
    assert rooms[0] < ROOM
    trial.link.close()


def test_half_a_copy_is_no_copy(tmp_path: Path) -> None:
    script = copy_script({"name": "a", "python": sys.executable}, "d1", 100)
    done = subprocess.run(
        ["sh", "-c", script],
        input=b"x" * 99,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        check=False,
    )
    assert done.returncode == BAD_COPY
    assert list((tmp_path / ".trainway" / "agent").iterdir()) == []


def test_a_copy_is_compiled_for_the_python_of_its_host(tmp_path: Path) -> None:
    sent = tmp_path / "sent.pyz"
    write_zip(sent)
    host: Json = {"name": "a", "python": sys.executable}
    subprocess.run(
        ["sh", "-c", copy_script(host, digest(), sent.stat().st_size)],
        input=sent.read_bytes(),
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        check=True,
    )
    (kept,) = (tmp_path / ".trainway" / "agent").iterdir()
    assert kept.name == f"{digest()}.pyz"
    assert kept.stat().st_mode & 0o077 == 0
    with zipfile.ZipFile(kept) as archive:
        compiled = archive.read("trainway/agent/host/connect.pyc")
    assert compiled.startswith(MAGIC_NUMBER)


def test_a_copy_that_is_there_already_stays(tmp_path: Path) -> None:
    first = tmp_path / ".trainway" / "agent" / "d1.pyz"
    first.parent.mkdir(parents=True)
    first.write_text("of another client")
    subprocess.run(
        ["sh", "-c", copy_script({"name": "a", "python": sys.executable}, "d1", 5)],
        input=b"ours\n",
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        check=True,
    )
    assert [path.read_text() for path in first.parent.iterdir()] == ["of another client"]
