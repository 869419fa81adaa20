import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from click.shell_completion import CompletionItem, ShellComplete

from trainway.cli import completions
from trainway.cli.app import app
from trainway.cli.completion_scripts import Bash, Fish, Zsh
from trainway.cli.infra_names import infra_names
from trainway.families.family import Clusters, Family, Places
from trainway.families.table import ROWS
from trainway.sdk.testing import FakeServer
from trainway.sdk.transport import Transport

CONFIG = """
pools: {lab: {hosts: [a]}, loft: {hosts: [b]}}
clusters: {hpc: {login: login.example.com}}
"""
KUBECONFIG = "contexts: [{name: kind}, {name: 'arn:aws:eks:eu/cluster'}, {other: 1}]"
SSH = "Host *\n  User me\nHost gpu box-1 *.example.com\nHost=solo\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folders = {name: tmp_path / name for name in ("home", ".ssh", ".slurm", ".kube")}
    for folder in folders.values():
        folder.mkdir()
    (folders["home"] / "config.yaml").write_text(CONFIG)
    (folders[".ssh"] / "config").write_text(SSH)
    (folders[".slurm"] / "config").write_text("Host big\n  HostName big.example.com\n")
    (folders[".kube"] / "config").write_text(KUBECONFIG)
    monkeypatch.setenv("TRAINWAY_HOME", str(folders["home"]))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    for name in ("TRAINWAY_SERVER", "KUBECONFIG"):
        monkeypatch.delenv(name, raising=False)
    return folders["home"]


@pytest.fixture
def fake(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    monkeypatch.setattr(completions, "_PATIENCE_S", 60)  # this machine may be busy
    with FakeServer(home) as server:
        yield server


def items(*words: str) -> list[CompletionItem]:
    completion = Bash(app, {}, "trainway", "_TRAINWAY_COMPLETE")
    return completion.get_completions(list(words[:-1]), words[-1])


def values(*words: str) -> list[str]:
    return [str(item.value) for item in items(*words)]


@dataclass(frozen=True)
class Case:
    words: tuple[str, ...]
    found: tuple[str, ...]


@pytest.mark.parametrize(
    "case",
    [
        Case(("run", "--runtime", "torch-"),
             ("torch-distributed", "torch-distributed-with-cache")),
        Case(("run", "--runtime=jax",), ("jax-distributed",)),
        Case(("explain", "--runtime", "jax"), ("jax-distributed",)),
        Case(("runtimes", "show", "jax"), ("jax-distributed",)),
        Case(("run", "--on", "l"), ("local",)),
        Case(("run", "--on", "ssh/l"), ("ssh/lab", "ssh/loft")),
        Case(("run", "--infra", "ssh/"),
             ("ssh/lab", "ssh/loft", "ssh/gpu", "ssh/box-1", "ssh/solo")),
        Case(("explain", "--on", "slurm/"), ("slurm/hpc", "slurm/big")),
        Case(("run", "--on", "k8s/"), ("k8s/kind", "k8s/arn:aws:eks:eu/cluster")),
        Case(("launch", "--infra", "k"), ()),
        Case(("launch", "--on", "slurm/h"), ("slurm/hpc",)),
        Case(("run", "--on", "x"), ()),
        Case(("jobs", "show", "tr"), ("train",)),
        Case(("jobs", "cancel", "other", "tr"), ("train",)),
        Case(("jobs", "logs", "id00"), ("id0002", "id0001", "id0000")),
        Case(("runs", "show", "s"), ("sweep",)),
        Case(("logs", "d"), ("dev", "demo")),
        Case(("cancel", "t"), ("train",)),
        Case(("down", "d"), ("dev",)),
        Case(("launch", "-c", ""), ("dev",)),
        Case(("exec", ""), ("dev",)),
    ],
    ids=lambda case: " ".join(case.words),
)  # fmt: skip
def test_names_are_completed(fake: FakeServer, case: Case) -> None:
    for name in ("train", "train", "demo"):
        fake.add_job(name)
    fake.clusters.add("dev")
    if "runs" in case.words:
        fake.runs.submit("sweep", {"num_jobs": 2})
    assert tuple(values(*case.words)) == case.found


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("run", ""), "file"),
        (("run", "--nodes", "2", "tr"), "file"),
        (("run", "train.py", "--data", "d"), "file"),
        (("run", "-debug", "tr"), "file"),
        (("run", "--env-file", ""), "file"),
        (("run", "--sweep", "s"), "file"),
        (("launch", "t"), "file"),
        (("launch", "--workdir", "c"), "dir"),
        (("explain", "t"), "file"),
        (("explain", "-f", ""), "file"),
        (("validate", "t"), "file"),
    ],
)
def test_files_are_left_to_the_shell(home: Path, words: tuple[str, ...], kind: str) -> None:
    assert home.is_dir()
    assert [(item.value, item.type) for item in items(*words)] == [(words[-1], kind)]


MOON = Family("moon", "", places=Places(section="moon"), clusters=Clusters.STOPPABLE)
SUN = Family("sun", "", places=None)


@pytest.mark.parametrize(
    "case",
    [
        Case(("run", "--on", "moon/"), ("moon/crater", "moon/sea")),
        Case(("run", "--on", "s"), ("sun", "ssh/lab", "ssh/loft", "slurm/hpc", "ssh/gpu",
                                    "ssh/box-1", "ssh/solo", "slurm/big")),
        Case(("launch", "--infra", "m"), ("moon/crater", "moon/sea")),
        Case(("launch", "--infra", "su"), ()),
        Case(("run", "--on", "broken"), ()),
    ],
    ids=lambda case: " ".join(case.words),
)  # fmt: skip
def test_places_of_families_of_other_packages_are_completed(
    home: Path, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    (home / "config.yaml").write_text(f"{CONFIG}\nmoon: {{crater: {{}}, sea: {{}}}}\n")
    points = [
        EntryPoint("moon", f"{__name__}:MOON", ROWS),
        EntryPoint("sun", f"{__name__}:SUN", ROWS),
        EntryPoint("broken", "no.such.module:ROW", ROWS),
    ]
    monkeypatch.setattr(
        "importlib.metadata.entry_points",
        lambda group: [point for point in points if point.group == group],
    )
    assert tuple(values(*case.words)) == case.found


def test_no_server_is_started_to_complete(home: Path) -> None:
    assert values("jobs", "show", "") == []
    assert values("logs", "") == []
    assert values("launch", "-c", "") == []
    assert not (home / "server.json").exists()
    assert not (home / "server.sock").exists()


def test_files_that_are_wrong_say_nothing(home: Path, tmp_path: Path) -> None:
    (home / "config.yaml").write_text("pools: [")
    (tmp_path / ".kube" / "config").write_text("contexts: 7")
    (tmp_path / ".ssh" / "config").unlink()
    (tmp_path / ".slurm" / "config").unlink()
    assert infra_names() == ["local"]


@dataclass(frozen=True)
class Typed:
    """What a shell tells of a line, and gets."""

    shell: type[ShellComplete]
    line: str
    word: str
    answer: str


LABS = "plain,ssh/lab\nplain,ssh/loft"


@pytest.mark.parametrize(
    "typed",
    [
        Typed(Bash, "trainway run --on ssh/l", "ssh/l", LABS),
        Typed(Bash, "trainway run --on=ssh/l", "ssh/l", LABS),
        Typed(Bash, "trainway run --on=", "", "plain,local"),
        Typed(Bash, "trainway run --on=", "=", "plain,local"),
        Typed(Bash, "trainway run --on ", "", "plain,local"),
        Typed(Bash, "trainway run --on k8s/arn:aw", "aw", "plain,aws:eks:eu/cluster"),
        Typed(Bash, "trainway run --on=k8s/arn:", ":", "plain,aws:eks:eu/cluster"),
        Typed(Bash, 'trainway run --on "k8s/arn:', '"k8s/arn:',
              "plain,k8s/arn:aws:eks:eu/cluster"),
        Typed(Bash, "trainway run my\\ ", "my\\ ", "file,my "),
        Typed(Zsh, "trainway run --on ssh/l", "3", "plain\nssh/lab\n_\nplain\nssh/loft\n_"),
        Typed(Fish, "trainway run --on ssh/l", "ssh/l", LABS),
        Typed(Fish, "trainway run --on=ssh/l", "--on=ssh/l", LABS),
    ],
    ids=lambda typed: f"{typed.shell.name} {typed.line} {typed.word}",
)  # fmt: skip
def test_every_shell_gets_them_in_its_own_form(
    home: Path, monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    assert home.is_dir()
    monkeypatch.setenv("COMP_WORDS", typed.line)
    monkeypatch.setenv("COMP_CWORD", typed.word)
    completion = typed.shell(app, {}, "trainway", "_TRAINWAY_COMPLETE")
    assert completion.complete().startswith(typed.answer)


@pytest.mark.parametrize("answer", [b"[]", b"{}", b'{"items": 7}', b"<html>"])
def test_another_server_than_ours_completes_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    assert home.is_dir()
    monkeypatch.setenv("TRAINWAY_SERVER", "http://localhost:1")
    monkeypatch.setattr(Transport, "_exchange", lambda *_: (answer, 200))
    assert values("logs", "") == []


def test_a_server_that_does_not_answer_is_asked_once(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert home.is_dir()
    asked: list[float | None] = []

    def exchange(*arguments: float | None) -> None:
        asked.append(arguments[-1])
        raise TimeoutError

    monkeypatch.setenv("TRAINWAY_SERVER", "http://localhost:1")
    monkeypatch.setattr(Transport, "_exchange", exchange)
    assert values("logs", "") == []
    assert asked == [pytest.approx(0.3)]


def test_completing_imports_nothing_of_the_compiler(home: Path) -> None:
    script = (
        "import sys; from click.shell_completion import ShellComplete; from trainway.cli.app "
        "import app; ShellComplete(app, {}, 't', 'T').get_completions(['run', '--on'], 's'); "
        "print('pydantic' in sys.modules, 'trainway.compiler.compile' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert (done.stdout, home.is_dir()) == ("False False\n", True)
