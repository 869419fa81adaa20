import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cluster.processes import Identity, Process, kill_all, process_start, wait_until
from cluster.unavailable import UnavailableError

OWNER = """
import sys, time
from pathlib import Path
from cluster.processes import Process
process = Process("sleep", ["sleep", "600"], Path(sys.argv[1]), stays=sys.argv[2] == "stays")
process.start()
print(process.identity.pid, flush=True)
time.sleep(600)
"""


def test_a_process_that_ends_before_it_is_ready_says_why(tmp_path: Path) -> None:
    process = Process("etcd", ["sh", "-c", "echo no space left; exit 1"], tmp_path / "log")
    process.start()
    with pytest.raises(UnavailableError, match="etcd ended: no space left"):
        process.wait_ready(lambda: False, 20)


def test_a_process_that_does_not_get_ready_says_so(tmp_path: Path) -> None:
    process = Process("etcd", ["sleep", "600"], tmp_path / "log")
    process.start()
    with pytest.raises(UnavailableError, match="etcd is not ready"):
        process.wait_ready(lambda: False, 0.1)
    process.stop()
    assert not process.is_alive()


def test_a_process_that_ignores_the_request_to_end_is_killed(tmp_path: Path) -> None:
    script = "trap '' TERM; echo here; while :; do sleep 0.1; done"
    process = Process("stubborn", ["sh", "-c", script], tmp_path / "log")
    process.start()
    process.wait_ready(lambda: "here" in process.last_lines(), 20)
    process.stop(patience_seconds=0.2)
    assert process.popen is not None
    assert process.popen.returncode == -signal.SIGKILL


@pytest.mark.parametrize(("mode", "survives"), [("stays", True), ("dies", False)])
def test_a_process_dies_with_its_owner_unless_it_is_to_stay(
    mode: str, survives: bool, tmp_path: Path
) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path / "log"), mode],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).parents[1]), "PATH": "/usr/bin:/bin"},
    )
    with owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        identity = Identity(pid, process_start(pid))
        # Before that setpriv may not have asked to be told of its owner's end.
        assert wait_until(lambda: Path(f"/proc/{pid}/comm").read_text() == "sleep\n", 60)
        assert identity.is_alive()
        owner.kill()
    if survives:
        assert not wait_until(lambda: not identity.is_alive(), 0.5)
        kill_all([identity])
    assert wait_until(lambda: not identity.is_alive(), 60)


def test_another_process_with_the_same_number_is_left_alone(tmp_path: Path) -> None:
    process = Process("sleep", ["sleep", "600"], tmp_path / "log")
    process.start()
    assert process.identity is not None
    earlier = replace(process.identity, started="1")
    assert not earlier.is_alive()
    kill_all([earlier])
    assert process.is_alive()
    kill_all([process.identity])
    assert wait_until(lambda: not process.is_alive(), 60)
