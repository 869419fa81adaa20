import subprocess
import sys

from trainway.sdk import mpi_start


def test_every_form_of_a_hostfile_is_read() -> None:
    assert mpi_start.hosts("a.b slots=2\n\nc.b\n") == ["a.b", "c.b"]
    assert mpi_start.hosts("# none\na.b:2\nc.b:2\n") == ["a.b", "c.b"]


def test_a_name_is_asked_for_until_it_is_there() -> None:
    asked: list[str] = []

    def resolve(name: str) -> str:
        asked.append(name)
        if asked.count(name) < 3:
            raise OSError
        return "10.0.0.1"

    mpi_start.wait(["a", "b"], resolve)
    assert asked == ["a"] * 3 + ["b"] * 3


def test_a_name_that_never_comes_is_left_to_mpirun() -> None:
    def resolve(_name: str) -> str:
        raise OSError

    mpi_start.wait(["a", "b"], resolve, patience_s=0.0)


def test_without_a_hostfile_the_command_runs_at_once() -> None:
    command = [sys.executable, mpi_start.__file__, "echo", "$HOME", "a b"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "$HOME a b\n")
