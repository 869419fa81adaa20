import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from trainway.backends.pool.attachment import attachment
from trainway.errors import ConflictError
from trainway.json_types import Json

HANDLE = {"id": "abc"}
HOST: Json = {
    "name": "a1",
    "destination": "me@a1",
    "port": 2222,
    "options": ["-F", "/file"],
    "identity": "/key",
    "python": sys.executable,
}


def records(process: int, *hosts: str) -> list[Json]:
    pod = {"type": "pod", "pod": "node-0-0", "containers": [{"name": "main", "pid": process}]}
    return [*({"type": "placement", "hosts": {"node-0-0": host}} for host in hosts), pod]


def test_it_leads_to_the_host_of_the_last_placement() -> None:
    place = attachment(HANDLE, records(7, "a0", "a1"), [HOST])
    assert place["host"] == "a1"
    assert place["program"] == ["ssh", "-F", "/file", "-i", "/key", "-p", "2222", "me@a1"]
    assert shlex.split(place["remote"]["main"])[-2:] == ["abc", "7"]
    assert "processes" not in place


def test_a_python_at_home_is_found_by_the_hosts_shell() -> None:
    place = attachment(HANDLE, records(7, "a1"), [{**HOST, "python": "~/my env/bin/python3"}])
    assert place["remote"]["main"].startswith("\"$HOME\"/'my env/bin/python3' -c ")


def test_a_command_runs_where_the_process_is(tmp_path: Path) -> None:
    environ = {"TRAINWAY_JOB_ID": "abc", "MINE": "1", "PATH": os.environ["PATH"]}
    with subprocess.Popen(["sleep", "60"], env=environ, cwd=tmp_path) as process:
        try:
            # The environment is the new program's only once the kernel has loaded it.
            while b"MINE=1" not in Path(f"/proc/{process.pid}/environ").read_bytes():
                time.sleep(0.01)
            place = attachment(HANDLE, records(process.pid, "a1"), [HOST])
            words = shlex.join(["sh", "-c", "pwd; echo $MINE"])
            done = subprocess.run(
                ["sh", "-c", f"{place['remote']['main']} {words}"],
                capture_output=True,
                text=True,
                check=True,
            )
        finally:
            process.kill()
    assert done.stdout == f"{tmp_path}\n1\n"


def test_another_process_of_that_number_is_left_alone() -> None:
    place = attachment(HANDLE, records(os.getpid(), "a1"), [HOST])
    done = subprocess.run(
        ["sh", "-c", f"{place['remote']['main']} true"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "the process of the pod is gone\n")


def test_on_this_machine_the_process_is_enough() -> None:
    place = attachment(HANDLE, records(7, "this"), [{"name": "this", "command": ["python"]}])
    assert place["processes"] == {"main": 7}
    assert "remote" not in place


def test_a_host_that_was_taken_out_of_the_pool_is_named() -> None:
    with pytest.raises(ConflictError, match="host a9 is not in the pool any more"):
        attachment(HANDLE, records(7, "a9"), [HOST])


def test_a_node_of_slurm_is_reached_by_a_step() -> None:
    host = {"name": "n1@dev", "program": ["ssh", "login"], "step": "exec srun --jobid=7"}
    place = attachment(HANDLE, records(7, "n1@dev"), [host])
    assert place["program"] == ["ssh", "login"]
    words = shlex.split(place["remote"]["main"])
    assert words[:3] == ["exec", "sh", "-c"]
    assert words[3].startswith("exec srun --jobid=7 python3 -c ")
    assert words[3].endswith('abc 7 "$@"')
