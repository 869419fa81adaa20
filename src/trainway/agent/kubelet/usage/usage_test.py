"""What is sampled of processes and of GPUs, and how often it is written."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from trainway.agent.base.event_loop import EventLoop
from trainway.agent.kubelet import process_tree
from trainway.agent.kubelet.process_tree import CONTAINER_MARK
from trainway.agent.kubelet.processes import ProcessTable
from trainway.agent.kubelet.usage import gpu_monitor, process_usage
from trainway.agent.kubelet.usage.averages import pause
from trainway.agent.kubelet.usage.gpu_monitor import GpuMonitor, of_pod, parsed
from trainway.agent.kubelet.usage.idle_gpus import IdleGpus, busy_message, idle_message
from trainway.agent.kubelet.usage.process_usage import ProcessUsage

LINE = "1, GPU-b, 97, 1024, 2048, 350.5, [N/A], 12 13"
HOLD = "held = bytearray(b'1') * (64 << 20); print('ready', flush=True)"
BURN = "import time\nwhile time.process_time() < 0.5: pass\n"


def test_processes_of_a_pod_count_with_what_they_started() -> None:
    below = f"import subprocess, sys; {HOLD}; subprocess.run([sys.executable, '-c', sys.argv[1]])"
    child = "input()"
    with subprocess.Popen(
        [sys.executable, "-c", BURN + below, child], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        used = ProcessUsage().of_pods({"a": [process.pid], "b": []})
        process.communicate(b"\n")
    assert used["a"].cpu_seconds >= 0.4
    assert 64 << 20 <= used["a"].memory <= 400 << 20
    assert process.pid in used["a"].pids
    assert (used["b"].cpu_seconds, used["b"].memory, len(used["b"].pids)) == (0, 0, 0)


@pytest.fixture
def marked() -> Iterator[int]:
    """A process of ours with the mark of a pod, which runs."""
    env = {**os.environ, CONTAINER_MARK: "a/main"}
    with subprocess.Popen(
        ["cat"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"\n")
        assert process.stdout.read(1) == b"\n"  # /proc shows its environment since its exec
        yield process.pid
        process.kill()


def test_orphans_count_by_their_mark(marked: int) -> None:
    looking = ProcessUsage()
    assert [looking.of_pods({"a": []})["a"].pids for _ in range(2)] == [{marked}] * 2


def test_an_environment_that_was_empty_is_read_again(
    marked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_file, reads = process_tree.read_file, []

    def read(path: str) -> bytes:
        if path != f"/proc/{marked}/environ":
            return read_file(path)
        reads.append(path)
        return read_file(path) if len(reads) > 1 else b""

    monkeypatch.setattr(process_usage, "read_file", read)
    looking = ProcessUsage()
    found = [looking.of_pods({"a": []})["a"].pids for _ in range(3)]
    assert found == [set(), {marked}, {marked}]
    assert len(reads) == 2


def test_lines_of_gpus() -> None:
    gpu = parsed(LINE)
    assert gpu is not None
    assert (gpu.index, gpu.uuid, gpu.pids) == ("1", "GPU-b", {12, 13})
    assert gpu.figures == {
        "utilization": 97.0,
        "memory": float(1 << 30),
        "memoryTotal": float(2 << 30),
        "power": 350.5,
    }
    for line in ("", "NVIDIA-SMI has failed, badly, for, many, good, reasons, 1", "1, 2"):
        assert parsed(line) is None


@pytest.mark.parametrize(
    ("assigned", "pids", "is_found"),
    [
        (["1"], [], True),
        (["GPU-b"], [], True),
        (["0"], [12], False),
        ([], [12], True),
        ([], [9], False),
    ],
)
def test_which_gpus_are_a_pods(assigned: list[str], pids: list[int], is_found: bool) -> None:
    gpu = parsed(LINE)
    assert gpu is not None
    assert of_pod([gpu], assigned, pids) == ([gpu] if is_found else [])


def test_a_gpu_is_told_to_be_idle_once_until_it_works() -> None:
    idle = IdleGpus(600)
    assert idle.note({"0": 0, "1": 50}, 0) == ([], [])
    assert idle.note({"0": 0, "1": 0}, 599) == ([], [])
    assert idle.note({"0": 0, "1": 0}, 600) == (["0"], [])
    assert idle.note({"0": 0, "1": 0}, 1300) == (["1"], [])
    assert idle.note({"0": 30, "1": 90}, 1305) == ([], ["0", "1"])
    assert idle.note({"0": 0}, 1310) == ([], [])
    assert idle.note({"0": 0}, 1910) == (["0"], [])
    assert idle_message(["0"]) == "GPU 0 has been idle for 10 minutes"
    assert idle_message(["0", "1"]) == "GPUs 0 and 1 have been idle for 10 minutes"
    assert busy_message(["0"]) == "GPU 0 is in use again"


def test_a_journal_stays_short() -> None:
    assert pause(0, 1) == pause(3600, 1) == 5
    assert pause(0, 64) == 32
    assert pause(1e7, 1) == pause(0, 10_000) == 60


def heard(loop: EventLoop, monitor: GpuMonitor) -> list[gpu_monitor.Gpu]:
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        loop.turn()
        if gpus := monitor.take():
            return gpus
    return []


def test_the_monitor_holds_no_file_of_the_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever starts an agent waits until a pipe is closed, and the next agent for a lock."""

    def speak(_seconds: float) -> int:
        os.write(1, f"{LINE}\n".encode())
        time.sleep(600)
        return 0

    monkeypatch.setattr(gpu_monitor, "_report", speak)
    loop = EventLoop()
    monitor = GpuMonitor(loop, ProcessTable(loop), 5.0)
    read, write = os.pipe()
    monitor.start()
    assert heard(loop, monitor)
    os.close(write)
    os.set_blocking(read, False)
    try:
        assert os.read(read, 1) == b""
    finally:
        os.close(read)
        monitor.stop()
        loop.turn()


def test_the_monitor_ends_with_what_it_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{LINE}\\n"
    fake = [sys.executable, "-c", f"import time; print('{text}', flush=True); time.sleep(600)"]
    monkeypatch.setattr(gpu_monitor, "_report", lambda _seconds: os.execv(fake[0], fake))  # noqa: S606 - a program of ours
    loop = EventLoop()
    monitor = GpuMonitor(loop, ProcessTable(loop), 5.0)
    monitor.start()
    assert [gpu.index for gpu in heard(loop, monitor)] == ["1"]
    give_up = time.monotonic() + 60
    process = monitor._process
    assert process is not None
    monitor.stop()
    while monitor._process is not None and time.monotonic() < give_up:
        loop.turn()
    assert process.exited
