"""Groups in a folder that looks like the kernel's; real ones are in `test/e2e/failure_table.py`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from trainway.agent.kubelet.control_group import ControlGroups, enter

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

V1_OWN = "4:memory:/session\n0::/\n"
V2_OWN = "0::/user.slice/app.slice/term.scope\n"
V2 = "user.slice/app.slice"
V2_SCOPE = f"{V2}/term.scope"


class Kernel:
    """The files of control groups; a group is made with its files, as the kernel does."""

    def __init__(
        self, folder: Path, own: str, files: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.root = folder / "groups"
        self.own = folder / "own"
        self.own.write_text(own)
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        makedirs = os.makedirs

        def made(path: str, *, exist_ok: bool = False) -> None:
            makedirs(path, exist_ok=exist_ok)
            names = ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.oom_control")
            if "/memory/" not in path:
                names = ("memory.max", "memory.swap.max", "memory.events")
            for name in (*names, "memory.oom.group", "cgroup.procs"):
                with open(f"{path}/{name}", "w"):
                    pass

        monkeypatch.setattr(os, "makedirs", made)

    def groups(self) -> ControlGroups:
        return ControlGroups(str(self.own), str(self.root))

    def text(self, name: str) -> str:
        return (self.root / name).read_text()


@dataclass(frozen=True)
class Case:
    id: str
    own: str
    files: Mapping[str, str]
    place: str = ""
    """Where a group is made; empty: nowhere."""
    user: int = 1000
    is_delegated: bool = False


CASES = [
    Case(
        "version 1",
        V1_OWN,
        {"memory/session/memory.limit_in_bytes": "-1", "memory/session/cgroup.procs": "1\n"},
        "memory/session",
        user=0,
    ),
    Case("version 1, not ours", V1_OWN, {"memory/other": ""}),
    Case(
        "version 2, beside the terminal that systemd made for this user",
        V2_OWN,
        {
            f"{V2_SCOPE}/cgroup.procs": "1\n2\n",
            f"{V2_SCOPE}/cgroup.controllers": "memory pids",
            f"{V2_SCOPE}/cgroup.subtree_control": "",
            f"{V2}/cgroup.procs": "",
            f"{V2}/cgroup.subtree_control": "memory pids",
        },
        V2,
    ),
    Case(
        "version 2, beside a session of root, which is systemd's",
        V2_OWN,
        {
            f"{V2_SCOPE}/cgroup.procs": "1\n2\n",
            f"{V2_SCOPE}/cgroup.controllers": "memory pids",
            f"{V2}/cgroup.procs": "",
            f"{V2}/cgroup.subtree_control": "memory pids",
        },
        user=0,
    ),
    Case(
        "version 2, a scope of the agent's own",
        V2_OWN,
        {
            f"{V2_SCOPE}/cgroup.procs": f"{os.getpid()}\n",
            f"{V2_SCOPE}/cgroup.controllers": "memory pids",
            f"{V2_SCOPE}/cgroup.subtree_control": "",
        },
        V2_SCOPE,
        user=0,
    ),
    Case(
        "version 2, a scope that is not for us to arrange",
        V2_OWN,
        {
            f"{V2_SCOPE}/cgroup.procs": f"{os.getpid()}\n1\n",
            f"{V2_SCOPE}/cgroup.controllers": "memory pids",
            f"{V2_SCOPE}/cgroup.subtree_control": "",
        },
        user=0,
    ),
    Case(
        "version 2, a scope with others that systemd delegated",
        V2_OWN,
        {
            f"{V2_SCOPE}/cgroup.procs": f"{os.getpid()}\n1\n",
            f"{V2_SCOPE}/cgroup.controllers": "memory pids",
            f"{V2_SCOPE}/cgroup.subtree_control": "",
        },
        V2_SCOPE,
        user=0,
        is_delegated=True,
    ),
    Case(
        "version 2, found by the next agent",
        f"0::/{V2_SCOPE}/trainway-agent\n",
        {f"{V2_SCOPE}/cgroup.procs": "", f"{V2_SCOPE}/cgroup.subtree_control": "memory"},
        V2_SCOPE,
        user=0,
    ),
    Case(
        "version 2, without the controller",
        V2_OWN,
        {f"{V2_SCOPE}/cgroup.procs": f"{os.getpid()}\n", f"{V2_SCOPE}/cgroup.controllers": "pids"},
    ),
    Case("no groups at all", "", {"other": ""}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_where_a_group_is_made(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel(tmp_path, case.own, case.files, monkeypatch)
    monkeypatch.setattr(os, "geteuid", lambda: case.user)
    monkeypatch.setattr(os, "getxattr", lambda *_: b"1" if case.is_delegated else b"0")

    group = kernel.groups().make("trainway-a-b", 1 << 20)

    if not case.place:
        assert group is None
        return
    assert group is not None
    assert group.path == str(kernel.root / case.place / "trainway-a-b")
    limit, swap = ("limit_in_bytes", "memsw.limit_in_bytes")
    if "memory/" not in case.place:
        limit, swap = ("max", "swap.max")
        assert kernel.text(f"{case.place}/cgroup.subtree_control") in (
            "memory pids",
            "memory",
            "+memory",
        )
    path = f"{case.place}/trainway-a-b/memory"
    assert kernel.text(f"{path}.{limit}") == str(1 << 20)
    assert kernel.text(f"{path}.{swap}") == ("0" if limit == "max" else str(1 << 20))


def test_a_member_that_is_killed_is_counted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"memory/s/memory.limit_in_bytes": "", "memory/s/cgroup.procs": ""}
    kernel = Kernel(tmp_path, "4:memory:/s\n", files, monkeypatch)
    group = kernel.groups().make("trainway-a-b", 1)
    assert group is not None
    enter(group.path)
    assert kernel.text("memory/s/trainway-a-b/cgroup.procs") == "0"
    assert not group.ran_out_of_memory()
    (kernel.root / "memory/s/trainway-a-b/memory.oom_control").write_text("oom_kill 1\n")
    assert group.ran_out_of_memory()
    assert not group.ran_out_of_memory()


def test_what_an_agent_left_is_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"memory/s/memory.limit_in_bytes": "", "memory/s/cgroup.procs": ""}
    kernel = Kernel(tmp_path, "4:memory:/s\n", files, monkeypatch)
    for name in ("trainway-a-1", "trainway-b-1", "else"):
        (kernel.root / "memory/s" / name).mkdir()
    kernel.groups().sweep("trainway-a-")
    left = {path.name for path in (kernel.root / "memory/s").iterdir() if path.is_dir()}
    assert left == {"trainway-b-1", "else"}


def test_a_group_that_is_gone_keeps_nobody_from_starting(tmp_path: Path) -> None:
    enter(str(tmp_path / "gone"))
