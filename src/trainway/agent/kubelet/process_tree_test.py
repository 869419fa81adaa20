import os
import select
import signal
import subprocess
from typing import Final

import pytest

from trainway.agent.kubelet import process_tree

PATIENCE: Final = 60.0
LEAVES_ONE: Final = "sleep 1000 & echo $!; exec cat"
"""Something that ends when its input does, and leaves another one of its group."""


def test_a_process_runs_until_the_last_of_its_group_has_ended() -> None:
    leader = subprocess.Popen(
        ["sh", "-c", LEAVES_ONE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert leader.stdout is not None
    left = int(leader.stdout.readline())
    started = process_tree.start_time(leader.pid)
    assert process_tree.is_running(leader.pid, started)
    assert not process_tree.is_running(leader.pid, started + 1), "another one of that number"
    with leader:  # closes its input, and waits for its end
        pass
    assert process_tree.is_running(leader.pid, started), "one of its group is left"
    ended = os.pidfd_open(left)
    try:
        os.kill(left, signal.SIGKILL)
        assert select.select([ended], [], [], PATIENCE)[0], "it still runs"
    finally:
        os.close(ended)
    assert not process_tree.is_running(leader.pid, started)


def test_a_zombie_does_not_run() -> None:
    child = subprocess.Popen(["true"], start_new_session=True)
    started = process_tree.start_time(child.pid)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not process_tree.is_running(child.pid, started)
    child.wait()
    assert not process_tree.is_running(child.pid, started)


@pytest.mark.parametrize(("hidden", "runs"), [(PermissionError, True), (ProcessLookupError, False)])
def test_where_proc_hides_the_processes_of_others_the_kernel_is_asked(
    monkeypatch: pytest.MonkeyPatch, hidden: type[OSError], *, runs: bool
) -> None:
    def send(_pid: int, _signal: int) -> None:
        raise hidden

    def no_group(_group: int, _signal: int) -> None:
        raise ProcessLookupError

    monkeypatch.setattr(process_tree, "stat_fields", lambda _pid: [])
    monkeypatch.setattr(os, "kill", send)
    monkeypatch.setattr(os, "killpg", no_group)
    assert process_tree.is_running(12345, 1) == runs
