import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from trainway.backends.base import BackendSettings
from trainway.backends.registry import Registry
from trainway.backends.testing import FakeBackend
from trainway.errors import NotFoundError
from trainway.families.table import ROWS, BackendError


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(BackendSettings(tmp_path))


def test_a_backend_is_made_once(registry: Registry) -> None:
    assert registry.get("local").name == "local"
    assert registry.get("local") is registry.get("local")


class _Asked:
    """A lock that knows when two threads have asked."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._threads: set[int] = set()
        self.by_two = threading.Event()

    def note(self) -> None:
        self._threads.add(threading.get_ident())
        if len(self._threads) == 2:
            self.by_two.set()

    def __enter__(self) -> None:
        self.note()
        self._lock.acquire()

    def __exit__(self, *_error: object) -> None:
        self._lock.release()


def test_threads_that_ask_at_once_get_one_backend(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, made = _Asked(), []

    class _Slow(FakeBackend):
        """One that is being made until the other thread asks for it too."""

        def __init__(self, settings: BackendSettings) -> None:
            super().__init__()
            made.append(settings.family)
            asked.note()
            asked.by_two.wait()

    monkeypatch.setattr(registry, "_load", lambda _family, _name: _Slow)
    monkeypatch.setattr(registry, "_making", asked)
    with ThreadPoolExecutor(2) as threads:
        one, other = threads.map(registry.get, ["local", "local"])
    assert one is other
    assert made == ["local"]


def test_an_unknown_name_is_answered_with_the_known_ones(registry: Registry) -> None:
    with pytest.raises(NotFoundError, match="no backend 'moon'") as caught:
        registry.get("moon")
    hint = caught.value.hint or ""
    assert hint.startswith("there are: local, k8s, ssh, slurm, cluster, worker-pool, and clouds: ")
    assert "aws" in hint
    assert "ssh/POOL" in hint


def test_a_family_has_a_backend_for_each_place_and_kubeconfig(registry: Registry) -> None:
    one = registry.get("k8s/test/ml", ["/a"])
    assert one.name == "k8s/test/ml"
    assert registry.get("k8s//test/ml/", ["/a"]) is one
    assert registry.get("k8s/test/ml", ["/b"]) is not one
    assert registry.get("k8s").name == "k8s"
    assert registry.of("k8s/test/ml", {"kubeconfig": ["/a"]}) is one


def test_a_kubeconfig_makes_no_other_local_backend(registry: Registry) -> None:
    assert registry.get("ssh/lab", ["/a"]) is registry.get("ssh/lab")
    assert registry.get("local", ["/a"]) is registry.get("local")
    assert registry.of("local", {"kubeconfig": ["/a"]}) is registry.get("local")


def test_every_context_is_a_place(registry: Registry, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text("contexts: [{name: one, context: {}}, {name: two, context: {}}]")
    (tmp_path / "config.yaml").write_text("pools: {lab: {hosts: [a]}}")
    assert registry.infras([str(file)]) == ["local", "k8s/one", "k8s/two", "ssh/lab"]


def test_a_kubeconfig_that_cannot_be_read_hides_no_other_place(
    registry: Registry, tmp_path: Path
) -> None:
    file = tmp_path / "config"
    file.write_text("{")
    assert registry.infras([str(file)]) == ["local", "k8s"]


def test_jobs_may_be_left_where_there_are_pools(registry: Registry, tmp_path: Path) -> None:
    assert registry.keepers() == ["local"]
    (tmp_path / "pools").mkdir()
    assert registry.keepers() == ["local", "ssh"]
    (tmp_path / "slurm").mkdir()
    assert registry.keepers() == ["local", "ssh", "slurm"]


def test_one_that_cannot_be_loaded_hurts_nobody_else(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = EntryPoint("moon", "no.such.module:Moon", ROWS)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_group: [broken])
    assert registry.names() == ["local", "k8s", "ssh", "slurm", "cluster", "worker-pool", "moon"]
    with pytest.raises(BackendError, match="'moon' cannot be loaded"):
        registry.get("moon")
    assert registry.get("local").name == "local"
