from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.host.holdings import Holdings
from trainway.agent.host.published_holdings import SIZE_LIMIT
from trainway.agent.host.shared_holdings import (
    FILES_LIMIT,
    LOCK,
    LockedError,
    SharedHoldings,
    login,
    machine_root,
    this_machine,
)
from trainway.agent.kubelet import process_tree

if TYPE_CHECKING:
    from trainway.agent.transfer.host_events import HeldByOther

LIMITS: Any = {"cpus": 4000, "memory": 100}
HELD: HeldByOther = {
    "key": "j1",
    "owner": "pool-1",
    "client": "ann@laptop",
    "name": "job train",
    "cpus": 2000,
    "memory": 0,
    "gpus": {"0": 1000},
}
ME = os.geteuid()
NOBODY_ELSE = f"trainway-holdings-{ME}-{'0' * 16}-{'1' * 16}.json"


def agent(root: Path, home: str = "/home/ann", **options: Any) -> SharedHoldings:
    return SharedHoldings(str(root), home, **options)


def files(root: Path) -> list[Path]:
    return sorted(root.glob("trainway-holdings-*"))


def test_agents_know_what_is_held_through_others_and_not_their_own(tmp_path: Path) -> None:
    ann, ben = agent(tmp_path), agent(tmp_path, "/home/ben")
    ann.publish([(HELD, [])])
    assert ann.others() == []
    assert ben.others() == [HELD]
    (file,) = files(tmp_path)
    assert file.name.startswith(f"trainway-holdings-{ME}-")
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    ann.publish([({**HELD, "cpus": 1}, [])])
    assert ben.others() == [{**HELD, "cpus": 1}]
    ann.publish([])
    assert ben.others() == []
    assert files(tmp_path) == []


def test_the_login_of_another_user_is_named(tmp_path: Path) -> None:
    agent(tmp_path).publish([(HELD, [])])
    (seen,) = agent(tmp_path, uid=ME + 1).others()
    assert seen == {**HELD, "client": f"ann@laptop as {login(ME)}"}


def test_a_user_without_a_name_is_a_number() -> None:
    assert login(4_123_456_789) == "4123456789"


def text_of_an_agent(folder: Path) -> bytes:
    folder.mkdir()
    agent(folder).publish([(HELD, [])])
    (file,) = files(folder)
    return file.read_bytes()


def link_to_a_file(path: Path, text: bytes) -> None:
    path.with_name("real").write_bytes(text)
    path.symlink_to("real")


def file_with_holes(path: Path, _text: bytes) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


@dataclass(frozen=True)
class Hostile:
    name: str
    make: Callable[[Path, bytes], object]
    file: str = NOBODY_ELSE


@pytest.mark.parametrize(
    "case",
    [
        Hostile("a pipe", lambda path, _: os.mkfifo(path)),
        Hostile("a directory", lambda path, _: path.mkdir()),
        Hostile("a link to nothing", lambda path, _: path.symlink_to("/nowhere")),
        Hostile("a link to the file of an agent", link_to_a_file),
        Hostile("a device", lambda path, _: path.symlink_to("/dev/zero")),
        Hostile("an empty file", lambda path, _: path.write_bytes(b"")),
        Hostile("a huge file", lambda path, text: path.write_bytes(text + b" " * SIZE_LIMIT)),
        Hostile("a huge file with holes", file_with_holes),
        Hostile("half a file", lambda path, text: path.write_bytes(text[:-9])),
        Hostile("no JSON", lambda path, _: path.write_bytes(b"\xff\x00")),
        Hostile(
            "a file of somebody else",
            lambda path, text: path.write_bytes(text),
            NOBODY_ELSE.replace(f"-{ME}-", f"-{ME + 1}-"),
        ),
        Hostile(
            "a name that no agent has",
            lambda path, text: path.write_bytes(text),
            "trainway-holdings-x.json",
        ),
        Hostile(
            "one that is being written",
            lambda path, text: path.write_bytes(text),
            f"{NOBODY_ELSE}.new",
        ),
    ],
    ids=lambda case: case.name,
)
def test_what_no_agent_wrote_is_ignored(tmp_path: Path, case: Hostile) -> None:
    root = tmp_path / "root"
    root.mkdir()
    text = text_of_an_agent(tmp_path / "elsewhere")
    (root / NOBODY_ELSE.replace("1" * 16, "2" * 16)).write_bytes(text)
    case.make(root / case.file, text)
    assert agent(root).others() == [HELD], "the one that an agent wrote"


def test_a_file_of_another_boot_or_another_count_of_processes_is_ignored(tmp_path: Path) -> None:
    agent(tmp_path, machine="before").publish([(HELD, [])])
    assert agent(tmp_path, "/home/ben").others() == []
    boot, namespace = this_machine().split()
    assert boot == process_tree.boot_id()
    assert namespace.startswith("pid:[")


def test_what_an_agent_left_that_is_gone_does_not_count(tmp_path: Path) -> None:
    agent(tmp_path).publish([(HELD, [])])
    running = {os.getpid()}
    ben = agent(tmp_path, "/home/ben", is_running=lambda pid, _started: pid in running)
    assert ben.others() == [HELD]
    running.clear()
    assert ben.others() == []


def test_the_next_agent_of_a_home_clears_away_what_the_last_one_left(tmp_path: Path) -> None:
    agent(tmp_path).publish([(HELD, [])])
    (left,) = files(tmp_path)
    half = left.with_name(f"{left.name}.new")
    half.touch()
    agent(tmp_path, "/home/ben").publish([(HELD, [])])
    again = agent(tmp_path)
    again.publish([({**HELD, "cpus": 1}, [])])
    again.clear_away()
    assert not left.exists()
    assert not half.exists()
    assert again.others() == [HELD], "that of another home stays"
    assert len(files(tmp_path)) == 2


def test_a_file_that_somebody_removed_is_written_again(tmp_path: Path) -> None:
    ann, ben = agent(tmp_path), agent(tmp_path, "/home/ben")
    ann.publish([(HELD, [])])
    (file,) = files(tmp_path)
    file.unlink()
    assert ben.others() == []
    ann.publish([(HELD, [])])
    assert ben.others() == [HELD]


def test_an_agent_that_cannot_write_says_so_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    ann = agent(root)
    root.rmdir()
    for _ in range(2):
        ann.publish([(HELD, [])])
    assert capfd.readouterr().err.count("cannot be told what is held") == 1


def test_users_have_a_bounded_number_of_files(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    text = text_of_an_agent(tmp_path / "elsewhere")
    for number in range(100):
        (root / f"trainway-holdings-{ME}-{'0' * 16}-{number:016x}.json").write_bytes(text)
    assert len(agent(root).others()) == FILES_LIMIT


def test_only_one_agent_at_a_time_gives_a_place_away(tmp_path: Path) -> None:
    ann, ben = agent(tmp_path), agent(tmp_path, "/home/ben")
    locked = pytest.raises(LockedError, match=f"keeps {tmp_path}/{LOCK} locked")
    with ann.locked(), locked, ben.locked():
        pass
    with ben.locked():
        pass
    assert stat.S_IMODE((tmp_path / LOCK).stat().st_mode) == 0o444


def test_a_lock_that_somebody_replaced_locks_nobody_out(tmp_path: Path) -> None:
    ann, ben = agent(tmp_path), agent(tmp_path, "/home/ben")
    with ann.locked():
        (tmp_path / LOCK).unlink()
        with ben.locked():
            pass


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(os.mkfifo, id="a pipe"),
        pytest.param(os.mkdir, id="a directory"),
        pytest.param(lambda path: path.symlink_to("/nowhere"), id="a link"),
    ],
)
def test_without_a_lock_agents_still_see_each_other(
    tmp_path: Path, make: Callable[[Path], object]
) -> None:
    make(tmp_path / LOCK)
    ann, ben = agent(tmp_path), agent(tmp_path, "/home/ben")
    with ann.locked():
        ann.publish([(HELD, [])])
    with ben.locked():
        assert ben.others() == [HELD]


def test_the_directory_is_one_that_all_users_may_write_to(tmp_path: Path) -> None:
    private, public = tmp_path / "private", tmp_path / "public"
    for path, mode in ((private, 0o777), (public, 0o1777)):
        path.mkdir()
        path.chmod(mode)
    assert machine_root([str(tmp_path / "none"), str(private), str(public)]) == str(public)
    assert machine_root([str(private)]) == ""


class User:
    """The agent of one of the users of a machine."""

    def __init__(self, root: Path, home: Path) -> None:
        home.mkdir()
        self.processes: list[int] = []
        self.shared = agent(root, str(home), is_running=self.is_running)
        self.dead: set[int] = set()
        self.holdings = Holdings(
            Directory(str(home)), lambda: 0.0, self.shared, lambda _: self.processes
        )

    def is_running(self, pid: int, _started: int) -> bool:
        return pid not in self.dead

    def hold(self, name: str, *, insist: bool = False, **amounts: Any) -> str:
        about = {"key": name, "owner": "same", "client": f"{name}@laptop", "name": f"job {name}"}
        return self.holdings.hold({**about, **amounts}, LIMITS, insist=insist)


@pytest.fixture
def users(tmp_path: Path) -> tuple[User, User]:
    root = tmp_path / "root"
    root.mkdir()
    return User(root, tmp_path / "ann"), User(root, tmp_path / "ben")


def test_two_agents_never_give_away_the_same(users: tuple[User, User]) -> None:
    ann, ben = users
    assert ann.hold("a", cpus=3000, gpus={"0": 1000}) == ""
    assert ben.hold("b", gpus={"0": 1000}) == "it is in use by a@laptop (job a)"
    assert ben.hold("b", cpus=2000) == "it is in use by a@laptop (job a)"
    assert ben.hold("b", cpus=1000, gpus={"1": 1000}) == ""
    assert ann.hold("a2", cpus=1) == "it is in use by a@laptop (job a), b@laptop (job b)"
    assert ann.hold("a2", insist=True, cpus=1) == ""
    assert [item["name"] for item in ann.holdings.others("same")] == ["job b"]
    assert ann.holdings.release("same", "a")
    ben.holdings.look()
    assert [item["name"] for item in ben.holdings.others("same")] == ["job a2"]
    assert ben.hold("b2", gpus={"0": 1000}) == ""


def test_what_is_held_ends_with_the_last_process_that_uses_it(users: tuple[User, User]) -> None:
    ann, ben = users
    ann.processes = [os.getppid()]
    assert ann.hold("a", cpus=4000) == ""
    ben.dead.add(os.getpid())
    assert ben.hold("b", cpus=1) == "it is in use by a@laptop (job a)"
    ben.dead.add(os.getppid())
    assert ben.hold("b", cpus=1) == ""


def test_an_agent_that_ends_holds_nothing_for_others(users: tuple[User, User]) -> None:
    ann, ben = users
    assert ann.hold("a", cpus=4000) == ""
    ann.holdings.close()
    assert ben.hold("b", cpus=4000) == ""


def test_who_waits_for_a_lock_is_told_and_who_has_a_place_does_not_wait(
    users: tuple[User, User], tmp_path: Path
) -> None:
    ann, _ = users
    assert ann.hold("a", cpus=1000) == ""
    with (tmp_path / "root" / LOCK).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(LockedError):
            ann.hold("a2", cpus=1000)
        with pytest.raises(LockedError):
            ann.hold("a", cpus=2000)
        assert ann.hold("a", cpus=1000) == ""
        assert ann.hold("a3", insist=True, cpus=9000) == ""
        assert ann.holdings.release("same", "a")
    assert [item["name"] for item in ann.holdings.others("")] == ["job a3"]
