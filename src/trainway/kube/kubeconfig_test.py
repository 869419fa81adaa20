from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.kube import kubeconfig
from trainway.kube.kubeconfig import KubeconfigError

_FIRST = """
current-context: one
contexts:
- {name: one, context: {cluster: c, user: u, namespace: n}}
- {name: lost, context: {cluster: nowhere, user: u}}
- {name: bare, context: {cluster: c}}
clusters:
- {name: c, cluster: {server: "https://first:1", certificate-authority: ca.pem}}
users:
- {name: u, user: {token: t}}
"""
_SECOND = """
current-context: two
contexts:
- {name: two, context: {cluster: d, user: u}}
clusters:
- {name: c, cluster: {server: "https://second:1"}}
- {name: d, cluster: {server: "https://second:2", certificate-authority: ca.pem}}
"""


def _files(folder: Path) -> list[Path]:
    paths = [folder / "a" / "config", folder / "none", folder / "b" / "config"]
    for path, text in ((paths[0], _FIRST), (paths[2], _SECOND)):
        path.parent.mkdir()
        path.write_text(text)
        (path.parent / "ca.pem").write_text(f"of {path.parent.name}")
    return paths


def test_files_are_merged_and_the_first_counts(tmp_path: Path) -> None:
    chosen = kubeconfig.load(_files(tmp_path))
    assert chosen.context.name == "one"
    assert chosen.cluster.text("server") == "https://first:1"
    assert chosen.user.text("token") == "t"


def test_relative_paths_start_at_their_file(tmp_path: Path) -> None:
    chosen = kubeconfig.load(_files(tmp_path), "two")
    assert chosen.cluster.content("certificate-authority") == b"of b"
    assert chosen.user.text("token") == "t"


def test_a_context_without_user(tmp_path: Path) -> None:
    assert kubeconfig.load(_files(tmp_path), "bare").user.fields == {}


@dataclass(frozen=True)
class Case:
    name: str
    text: str
    problem: str


@pytest.mark.parametrize(
    "case",
    [
        Case("empty", "", "has no current context"),
        Case("no mapping", "[1]", "is not a kubeconfig"),
        Case("no YAML", "{", "is not YAML"),
        Case("no such context", "current-context: x", "no context 'x' in"),
        Case("no such cluster", _FIRST.replace("context: one", "context: lost"), "no cluster 'no"),
    ],
    ids=lambda case: case.name,
)
def test_unusable_files(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(case.text)
    with pytest.raises(KubeconfigError, match=case.problem):
        kubeconfig.load([path])


def test_data_that_is_no_base64(tmp_path: Path) -> None:
    section = kubeconfig.Section("u", tmp_path, {"client-key-data": "?"})
    with pytest.raises(KubeconfigError, match="u: client-key-data is not base64"):
        section.content("client-key")


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    section = kubeconfig.Section("u", tmp_path, {"client-key": "key.pem"})
    with pytest.raises(KubeconfigError, match=r"cannot read .*key.pem: No such file"):
        section.content("client-key")


def test_all_contexts_and_the_current_one(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("contexts: [{name: a}, {name: b}]")
    second.write_text("current-context: c\ncontexts: [{name: b}, {name: c}, 1]")
    missing = tmp_path / "missing"
    assert kubeconfig.contexts([missing, first, second]) == (["a", "b", "c"], "c")
    assert kubeconfig.contexts([missing]) == ([], "")


def test_a_file_of_which_nobody_can_say_whether_it_is_there(tmp_path: Path) -> None:
    """Its name is too long here; more often it is in a folder that only somebody else may read."""
    path = tmp_path / ("x" * 300)
    for read in (kubeconfig.contexts, kubeconfig.load):
        with pytest.raises(KubeconfigError, match=r"^cannot read .*: File name too long"):
            read([path])
