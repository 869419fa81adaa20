from pathlib import Path

import pytest

from cluster import fixtures
from cluster.access import ExistingCluster
from cluster.control_plane import ControlPlane, etcd_program, programs_folder
from cluster.unavailable import UnavailableError


@pytest.fixture
def assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as envtest has it."""
    for name in ("etcd", "kube-apiserver", "kubectl"):
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    return tmp_path


def test_the_programs_of_envtest_take_the_place_of_the_build(assets: Path) -> None:
    assert programs_folder(ControlPlane.programs) == assets
    assert etcd_program() == str(assets / "etcd")


def test_what_envtest_lacks_is_named(assets: Path) -> None:
    with pytest.raises(UnavailableError, match="kubelet: not in KUBEBUILDER_ASSETS"):
        programs_folder(["kubectl", "kubelet"])


def test_an_existing_cluster_needs_a_kubeconfig(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    with pytest.raises(UnavailableError, match="KUBECONFIG"):
        ExistingCluster()


@pytest.mark.parametrize(
    ("in_ci", "outcome"), [(False, pytest.skip.Exception), (True, pytest.fail.Exception)]
)
def test_what_cannot_be_had_skips_a_test_and_fails_it_in_ci(
    in_ci: bool, outcome: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fixtures, "IN_CI", in_ci)
    with pytest.raises(outcome, match="cannot be had: no etcd"):
        fixtures.unavailable("no etcd")
