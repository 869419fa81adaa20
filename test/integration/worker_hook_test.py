"""A worker of an MPI job is told to fail until it listens."""

import subprocess
import sys

from trainway.compiler.mpi_workers import FAIL_WHEN_STOPPED

OBEYS_THE_SECOND = """
import signal, sys
told = []
signal.signal(signal.SIGQUIT, lambda *_: told.append(1) if not told else sys.exit(255))
print(flush=True)
while True:
    signal.pause()
"""


def test_a_worker_that_has_only_just_started_is_told_again() -> None:
    shell, option, script = FAIL_WHEN_STOPPED["exec"]["command"]
    with subprocess.Popen([sys.executable, "-c", OBEYS_THE_SECOND], stdout=subprocess.PIPE) as one:
        assert one.stdout is not None
        one.stdout.readline()
        assert "kill -QUIT 1;" in script
        ours = script.replace("kill -QUIT 1;", f"kill -QUIT {one.pid};")
        with subprocess.Popen([shell, option, ours], stderr=subprocess.DEVNULL) as hook:
            assert one.wait(timeout=60) == 255
            hook.kill()
