from __future__ import annotations

from pathlib import Path

import pytest

from trainway.agent.kubelet.health import pod_check
from trainway.agent.kubelet.health.verdict import HEALTHY, UNHEALTHY


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pod without nvidia-smi."""
    monkeypatch.setenv("PATH", str(tmp_path))


def with_program(folder: Path, text: str) -> None:
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)


def test_a_sound_node_passes_and_leaves_nothing(tmp_path: Path) -> None:
    assert pod_check.run(str(tmp_path), 0, str(tmp_path / "message")) == HEALTHY
    assert list(tmp_path.iterdir()) == []


def test_a_broken_gpu_is_told(tmp_path: Path) -> None:
    with_program(tmp_path, "echo no driver; exit 9")
    assert pod_check.run(str(tmp_path), 1, str(tmp_path / "message")) == UNHEALTHY
    assert (tmp_path / "message").read_text() == "nvidia-smi exited with 9: no driver"
    with_program(tmp_path, "echo '0, GPU-0, 0'")
    assert pod_check.run(str(tmp_path), 1, str(tmp_path / "message")) == HEALTHY


def test_a_disk_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    assert pod_check.run(str(tmp_path / "none"), 0, str(tmp_path / "message")) == UNHEALTHY
    assert "No such file" in (tmp_path / "message").read_text()


def test_without_nvidia_smi_the_devices_are_counted(tmp_path: Path) -> None:
    for name in ("nvidia0", "nvidia3", "nvidiactl", "nvidia-uvm"):
        (tmp_path / name).touch()
    assert pod_check.gpus_problem(2, str(tmp_path)) == ""
    assert pod_check.gpus_problem(3, str(tmp_path)) == "2 of the 3 GPUs of the pod are there"


def test_an_error_of_ours_is_no_fault_of_the_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(_directory: str) -> str:
        raise ValueError("oops")

    monkeypatch.setattr(pod_check, "disk_problem", broken)
    assert pod_check.run(str(tmp_path), 0) == HEALTHY
    assert "the health check itself failed: ValueError('oops')" in capfd.readouterr().out
