from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.backends.kubernetes.sites import Infra, files_of, places, resolve
from trainway.errors import NotFoundError, TrainwayError, UnavailableError, UsageError

ARN = "arn:aws:eks:eu-west-1:1:cluster/big"
KUBECONFIG = f"""
current-context: test
contexts:
- {{name: test, context: {{cluster: c, namespace: home}}}}
- {{name: bare, context: {{cluster: c}}}}
- {{name: "{ARN}", context: {{cluster: c}}}}
clusters: [{{name: c, cluster: {{server: "https://example.test"}}}}]
"""
IN_POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "config"
    path.write_text(KUBECONFIG)
    return str(path)


@dataclass(frozen=True)
class Case:
    target: str
    context: str
    namespace: str = ""
    place: str = "default"


@pytest.mark.parametrize(
    "case",
    [
        Case("", "test", place="home"),
        Case("test", "test", place="home"),
        Case("test/ml", "test", "ml", "ml"),
        Case("bare", "bare"),
        Case(ARN, ARN),
        Case(f"{ARN}/ml", ARN, "ml", "ml"),
    ],
    ids=lambda case: case.target,
)
def test_a_name_is_a_context_and_maybe_a_namespace(case: Case, file: str) -> None:
    infra = resolve(case.target, [file], {})
    assert (infra.context, infra.namespace, infra.place) == (
        case.context,
        case.namespace,
        case.place,
    )
    assert infra.kubeconfig == (file,)


def test_an_unknown_context_is_answered_with_the_known_ones(file: str) -> None:
    with pytest.raises(NotFoundError, match="no context 'moon' in the kubeconfig") as caught:
        resolve("moon/ml", [file], {})
    assert caught.value.hint == f"there are: k8s/test, k8s/bare, k8s/{ARN}"


def test_a_pod_has_a_cluster_without_a_kubeconfig() -> None:
    assert resolve("", [], IN_POD).context == "in-cluster"
    assert resolve("in-cluster/ml", [], IN_POD).place == "ml"
    assert places([], IN_POD) == ["k8s/in-cluster"]
    with pytest.raises(NotFoundError, match="no context 'test'"):
        resolve("test", [], IN_POD)


@pytest.mark.parametrize(
    ("files", "words"),
    [([], "there is no kubeconfig"), (["/no/such/file"], "no kubeconfig /no/such/file")],
)
def test_without_a_kubeconfig_there_is_no_cluster(files: list[str], words: str) -> None:
    assert places([], {}) == []
    with pytest.raises(UnavailableError, match=words):
        resolve("", files, {})


def test_a_kubeconfig_without_a_current_context_needs_a_name(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(KUBECONFIG.replace("current-context: test", ""))
    with pytest.raises(UnavailableError, match="no current context") as caught:
        resolve("", [str(path)], {})
    assert str(caught.value.hint).startswith("name one: k8s/test, ")


def test_whose_files_count(tmp_path: Path) -> None:
    usual = tmp_path / ".kube" / "config"
    assert files_of([], {}, tmp_path) == ()
    usual.parent.mkdir()
    usual.write_text("")
    assert files_of([], {}, tmp_path) == (str(usual),)
    assert files_of([], IN_POD, tmp_path) == ()
    assert files_of([], {"KUBECONFIG": "/a:/b"}, tmp_path) == ("/a", "/b")
    assert files_of(["/c"], {"KUBECONFIG": "/a"}, tmp_path) == ("/c",)


def test_the_namespace_of_an_object_counts_unless_another_was_asked_for() -> None:
    anywhere = Infra((), "test", "", "home")
    assert (anywhere.namespace_for(""), anywhere.namespace_for("ml")) == ("home", "ml")
    fixed = Infra((), "test", "ml", "home")
    assert (fixed.namespace_for(""), fixed.namespace_for("ml")) == ("ml", "ml")
    with pytest.raises(UsageError, match="namespace 'other', but --on says 'ml'"):
        fixed.namespace_for("other")


def test_a_broken_kubeconfig_is_an_error_in_words(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("{")
    with pytest.raises(TrainwayError, match="is not YAML"):
        places([str(path)], {})
