from pathlib import Path

import pytest

from trainway.backends.slurm.sites import ConfiguredClusters
from trainway.errors import NotFoundError, UsageError


def clusters(home: Path, text: str = "", *, slurm: bool = False) -> ConfiguredClusters:
    if text:
        (home / "config.yaml").write_text(text)
    return ConfiguredClusters(home, home, has_slurm=lambda: slurm)


def test_clusters_come_from_both_files(tmp_path: Path) -> None:
    (tmp_path / ".slurm").mkdir()
    (tmp_path / ".slurm" / "config").write_text("Host site\n  HostName login.site\n")
    found = clusters(tmp_path, "clusters: {hpc: {login: me@hpc, partition: cpu}}")
    assert found.names() == ["site", "hpc"]
    assert found.find("site").login == "site"
    assert found.find("hpc").partition == "cpu"
    assert found.find("hpc/gpu").partition == "gpu"


def test_a_cluster_may_be_described_in_one_file_and_reached_by_the_other(tmp_path: Path) -> None:
    (tmp_path / ".slurm").mkdir()
    (tmp_path / ".slurm" / "config").write_text("Host hpc\n  HostName login.hpc\n")
    found = clusters(tmp_path, "clusters: {hpc: {account: lab, options: [-v]}}").find("hpc")
    assert found.login == "hpc"
    assert found.ssh_options == ("-F", str(tmp_path / ".slurm" / "config"), "-v")
    assert found.batch_options() == {"account": "lab"}
    assert clusters(tmp_path, "clusters: {hpc: {login: other}}").find("hpc").ssh_options == ()


def test_one_cluster_needs_no_name(tmp_path: Path) -> None:
    assert clusters(tmp_path, "clusters: {hpc: {login: x}}").find("").name == "hpc"


def test_a_machine_with_slurm_is_a_login_node(tmp_path: Path) -> None:
    found = clusters(tmp_path, slurm=True).find("")
    assert (found.name, found.login) == ("here", "")


@pytest.mark.parametrize(
    ("text", "target", "error", "said"),
    [
        ("", "", UsageError, "no Slurm cluster is configured, and this machine has no Slurm"),
        ("clusters: {a: {login: x}, b: {login: z}}", "", UsageError, "there are 2 Slurm clusters"),
        ("clusters: {hpc: {login: x}}", "hcp", NotFoundError, 'did you mean "hpc"?'),
    ],
)
def test_what_cannot_be_meant_is_said(
    tmp_path: Path, text: str, target: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said.replace("?", r"\?")):
        clusters(tmp_path, text).find(target)


def test_a_name_where_there_is_no_cluster_is_answered_with_how_to_have_one(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no cluster 'hpc'") as caught:
        clusters(tmp_path, "").find("hpc")
    assert caught.value.hint is not None
    assert caught.value.hint.endswith("clusters: {hpc: {login: HOST}}")
