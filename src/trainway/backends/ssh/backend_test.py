import asyncio
from pathlib import Path

from trainway.backends.base import BackendSettings
from trainway.backends.ssh.backend import SshBackend


def test_a_configuration_that_is_wrong_is_a_line_of_doctor(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("pools: {lab: {host: [a]}}")
    backend = SshBackend(BackendSettings(tmp_path, "lab"))
    asyncio.run(backend.survey())
    (check,) = backend.check()
    assert (check.name, check.ok) == ("pool", False)
    assert 'pools.lab.host: Unknown field: did you mean "hosts"?' in check.detail
    assert check.fix == f"correct {tmp_path}/config.yaml"
    assert backend.places() == ["ssh"]


def test_every_pool_is_a_place(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("pools: {lab: {hosts: [a]}, hall: {hosts: [b]}}")
    backend = SshBackend(BackendSettings(tmp_path))
    assert backend.name == "ssh"
    assert backend.places() == ["ssh/lab", "ssh/hall"]
