import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.agent.kubelet import stack_dump
from trainway.agent.kubelet.stack_dump import NoStacksError
from trainway.json_types import Json

STUCK = """
import multiprocessing, sys, time
{before}
def stuck():
    print("ready", flush=True)
    time.sleep(600)
stuck()
"""
HANDLER = "from trainway.sdk.stack_handler import register_stacks; register_stacks()"
WORKER = f"""
import multiprocessing, os, time
{HANDLER}
reading, writing = os.pipe()
def in_worker():
    os.write(writing, b"here")
    time.sleep(600)
worker = multiprocessing.get_context("fork").Process(target=in_worker, daemon=True)
worker.start()
os.read(reading, 4)
"""
"""A child that is in its function before its parent says that it is ready."""


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for process in processes:
        for pid in stack_dump.members(process.pid, stack_dump.all_processes()):
            os.kill(pid, signal.SIGKILL)
        process.communicate()


def run(started: list[subprocess.Popen[bytes]], before: str = "") -> subprocess.Popen[bytes]:
    program = STUCK.format(before=before)
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    started.append(process)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def functions(threads: list[Json]) -> list[str]:
    frames = [frame for thread in threads for frame in thread["frames"]]
    return [str(frame["function"]) for frame in frames]


def dumped(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    stack_dump.main(list(words))
    line = capsys.readouterr().out.strip()
    answer: dict[str, object] = json.loads(line.removeprefix(stack_dump.MARKER))
    return answer


def test_py_spy_shows_the_stacks_of_a_process_and_of_its_children(
    started: list[subprocess.Popen[bytes]], capsys: pytest.CaptureFixture[str]
) -> None:
    process = run(started, WORKER)
    answer = dumped(capsys, str(process.pid))
    processes = answer["processes"]
    assert isinstance(processes, list)
    assert [each["method"] for each in processes] == ["py-spy", "py-spy"]
    assert functions(processes[0]["threads"])[:1] == ["stuck"]
    assert "in_worker" in functions(processes[1]["threads"])


FLAKY_PY_SPY = """#!/bin/sh
echo x >> {counter}
test $(wc -l < {counter}) -lt {good} || exec echo '[]'
echo {said} >&2
exit 1
"""


@dataclass(frozen=True)
class Failing:
    name: str
    said: str
    good: int
    """The call that is answered."""
    calls: int
    fails: bool


@pytest.mark.parametrize(
    "case",
    [
        Failing("moved once", "Error: Failed to get stack traces", 2, 2, fails=False),
        Failing("moves always", "Error: Failed to get stack traces", 99, 5, fails=True),
        Failing("not allowed", "Error: Permission Denied", 2, 1, fails=True),
    ],
    ids=lambda case: case.name,
)
def test_py_spy_is_asked_again_where_the_process_moved_under_it(
    case: Failing, tmp_path: Path
) -> None:
    program, counter = tmp_path / "py-spy", tmp_path / "calls"
    program.write_text(FLAKY_PY_SPY.format(counter=counter, good=case.good, said=case.said))
    program.chmod(0o755)
    opened = os.open(program, os.O_RDONLY)
    try:
        if case.fails:
            with pytest.raises(NoStacksError, match=case.said):
                stack_dump.by_py_spy(1, opened, 60)
        else:
            assert stack_dump.by_py_spy(1, opened, 60) == []
    finally:
        os.close(opened)
    assert len(counter.read_text().splitlines()) == case.calls


def test_without_py_spy_a_process_with_a_handler_writes_its_stacks(
    started: list[subprocess.Popen[bytes]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stack_dump, "candidates", lambda _pid: iter(()))
    process = run(started, WORKER)
    for _ in range(2):
        processes = dumped(capsys, str(process.pid))["processes"]
        assert isinstance(processes, list)
        assert [each["method"] for each in processes] == ["faulthandler", "faulthandler"]
        assert functions(processes[0]["threads"])[:1] == ["stuck"]
        assert "in_worker" in functions(processes[1]["threads"])
    assert process.poll() is None


@pytest.mark.parametrize(
    "before",
    ["", "import signal; signal.signal(signal.SIGUSR2, lambda *_: sys.exit(3))"],
    ids=["no handler", "a handler of its own"],
)
def test_a_process_without_our_handler_gets_no_signal(
    started: list[subprocess.Popen[bytes]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    before: str,
) -> None:
    monkeypatch.setattr(stack_dump, "candidates", lambda _pid: iter(()))
    process = run(started, before)
    answer = dumped(capsys, str(process.pid))["processes"]
    assert isinstance(answer, list)
    why = "py-spy is not installed here; it has registered no handler for stacks"
    assert [(each["error"], each["hasPySpy"]) for each in answer] == [(why, False)]
    assert process.poll() is None


def test_a_memory_file_alone_is_no_handler(started: list[subprocess.Popen[bytes]]) -> None:
    process = run(started, "import os; os.memfd_create('trainway-stacks')")
    assert stack_dump.memory_file(process.pid)
    with pytest.raises(NoStacksError, match="no handler"):
        stack_dump.by_handler(process.pid, 1)
    assert process.poll() is None


@dataclass(frozen=True)
class Case:
    name: str
    mode: int
    why: str
    owner: int | None = None


@pytest.mark.parametrize(
    "case",
    [
        Case("ours", 0o755, ""),
        Case("of the machine", 0o755, "", owner=0),
        Case("writable for all", 0o757, "others may write to it"),
        Case("not executable", 0o644, "it is not executable"),
        Case("of another user", 0o755, "it belongs to the user 4242", owner=4242),
    ],
    ids=lambda case: case.name,
)
def test_a_program_of_somebody_else_is_not_run(case: Case) -> None:
    owner = os.geteuid() if case.owner is None else case.owner
    mode = stat.S_IFREG | case.mode
    facts = os.stat_result((mode, 0, 0, 1, owner, os.getegid(), 1, 0, 0, 0))
    assert stack_dump.distrust(facts) == case.why


def test_a_pipe_in_the_place_of_py_spy_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "py-spy")
    folder = tmp_path / "open"
    folder.mkdir()
    (folder / "py-spy").write_text("#!/bin/sh\n")
    (folder / "py-spy").chmod(0o777)
    paths = [str(tmp_path / "py-spy"), str(folder / "py-spy"), str(tmp_path / "none")]
    monkeypatch.setattr(stack_dump, "candidates", lambda _pid: iter(paths))
    refused: list[str] = []
    assert stack_dump.open_program(1, refused) is None
    assert refused == [f"{folder}/py-spy is not run: others may write to it"]


def test_relative_folders_of_a_path_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", ".:bin::/opt/there")
    found = list(stack_dump.candidates(os.getpid()))
    assert "/opt/there/py-spy" in found
    assert all(path.startswith("/") for path in found)
