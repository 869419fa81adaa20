from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from trainway.backends.local.capacity import OVERRIDE, Machine
from trainway.backends.local.gpus import amd_gpus, gpu_names, nvidia_gpus
from trainway.errors import UsageError

MEMINFO = {"proc/meminfo": "MemTotal:       2048 kB\nMemFree: 1 kB\n"}


@dataclass(frozen=True)
class Case:
    name: str
    files: Mapping[str, str]
    cpus: str = "4"
    memory: str = "2Mi"
    environ: Mapping[str, str] = field(default_factory=dict)
    gpus: tuple[str, ...] = ("0",)


CASES = [
    Case("a machine without limits", MEMINFO),
    Case(
        "cgroup 2",
        MEMINFO | {"sys/fs/cgroup/cpu.max": "150000 100000", "sys/fs/cgroup/memory.max": "1048576"},
        cpus="1500m",
        memory="1Mi",
    ),
    Case(
        "cgroup 2 without limits",
        MEMINFO | {"sys/fs/cgroup/cpu.max": "max 100000", "sys/fs/cgroup/memory.max": "max"},
    ),
    Case(
        "cgroup 1",
        MEMINFO
        | {
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "200000",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "1048576",
        },
        cpus="2",
        memory="1Mi",
    ),
    Case(
        "cgroup 1 without limits",
        MEMINFO
        | {
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
        },
    ),
    Case("a limit above what there is", MEMINFO | {"sys/fs/cgroup/cpu.max": "900000 100000"}),
    Case(
        "what the environment says",
        MEMINFO,
        "1500m",
        "8Gi",
        {OVERRIDE: '{"cpu": 1.5, "memory": "8Gi", "gpus": 2}'},
        ("0", "1"),
    ),
    Case("a part of it", MEMINFO, environ={OVERRIDE: '{"gpus": ["GPU-a"]}'}, gpus=("GPU-a",)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_capacity(case: Case, tmp_path: Path) -> None:
    for name, text in case.files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")
    machine = Machine(tmp_path, cpus=lambda: 4, gpus=lambda: ("0",))
    found = machine.capacity(case.environ)
    assert (str(found.cpus), str(found.memory), found.gpus) == (case.cpus, case.memory, case.gpus)


def test_this_machine_has_something() -> None:
    found = Machine().capacity({})
    assert found.cpus.ceil() >= 1
    assert found.memory.ceil() > 2**20


@pytest.mark.parametrize(
    "text", ["4", "{", '{"cpu": "four"}', '{"cpu": null, "memory": []}', '{"gpus": "two"}']
)
def test_nonsense_in_the_environment_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=OVERRIDE):
        Machine(gpus=tuple).capacity({OVERRIDE: text})


def test_amd_gpus_are_the_nodes_with_shader_cores(tmp_path: Path) -> None:
    for number, cores in enumerate((0, 256, 256)):
        node = tmp_path / str(number)
        node.mkdir()
        (node / "properties").write_text(f"cpu_cores_count 1\nsimd_count {cores}\n")
    (tmp_path / "3").mkdir()
    assert amd_gpus(tmp_path) == 2
    assert amd_gpus(tmp_path / "none") == 0


def test_without_a_driver_there_are_no_nvidia_gpus() -> None:
    assert nvidia_gpus("libno-such-library.so.1") == 0


@pytest.mark.parametrize(
    ("nvidia", "amd", "names"), [(0, 0, ()), (2, 0, ("0", "1")), (0, 1, ("0",)), (1, 2, ("0",))]
)
def test_gpus_are_those_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, nvidia: int, amd: int, names: tuple[str, ...]
) -> None:
    for variable in ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"):
        monkeypatch.setenv(variable, "7")
    assert gpu_names(lambda: nvidia, lambda: amd) == names
