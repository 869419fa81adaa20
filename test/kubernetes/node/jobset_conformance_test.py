"""JobSets that are run with `--on k8s/test` end as recorded on a real Kubernetes.

The folder is `shared/conformance` beside the repository, and its own comparison decides. It asks
about each job three times a second; all but one test have it ask the server itself, since starting
a command each time would slow the pods down. The same cases run as plain Jobs, as on a cluster
without JobSet, but for those that plain Jobs cannot do.
"""

import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from cluster.access import Access
from cluster.images import BUSYBOX
from installation import TRAINWAY, Installation, installed
from jobset_comparison import CASES, PROGRAM, SETTLE_S, loaded

from trainway.sdk.address import Home
from trainway.sdk.rest import Rest

Json = dict[str, Any]

AT_ONCE: Final = 6
LITERAL: Final = ("single", "what-a-container-is-told")

RESTARTS: Final = "a gang of plain Jobs is not restarted"
NOT_PLAIN: Final[Mapping[str, str]] = {
    "blocking-recreate": RESTARTS,
    "restart-then-succeed": RESTARTS,
    "restart-until-max": RESTARTS,
    "restart-with-depends-on": RESTARTS,
    "rule-ignore-max-restarts": RESTARTS,
}
"""Cases that plain Jobs cannot express, and why."""

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="no shared/conformance here")


@dataclass(frozen=True)
class Case:
    form: str
    without: Mapping[str, str] = field(default_factory=dict)


@pytest.fixture
def new_home(
    node_cluster: Access, namespace: str, tmp_path: Path
) -> Iterator[Callable[[str], Installation]]:
    """Makes an installation whose context `test` is the cluster, and sees what it leaves there."""
    homes: list[Installation] = []

    def make(form: str) -> Installation:
        file = kubeconfig_with_test(node_cluster, namespace, tmp_path / "kubeconfig")
        variables = {"KUBECONFIG": str(file), "TRAINWAY_KUBERNETES_FORM": form}
        homes.append(Installation(tmp_path / "home", variables))
        return homes[0]

    yield make
    for home in homes:
        with installed(home.home, home.variables):
            pass
    kinds = "jobsets,jobs,pods,services,configmaps,secrets"
    left = node_cluster.get(kinds, "-n", namespace, "-l", "trainway.dev/job-id")
    assert left["items"] == []


@pytest.mark.parametrize("case", [Case("jobset"), Case("jobs", NOT_PLAIN)], ids=lambda c: c.form)
def test_jobsets_behave_as_recorded(
    case: Case, new_home: Callable[[str], Installation], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = new_home(case.form)
    home.run("jobs", "list")
    for name, value in home.environ().items():
        monkeypatch.setenv(name, value)
    comparison = loaded()
    found = Home(home.home)
    rest = Rest.connect(str(found.address(found.server_info())))
    monkeypatch.setattr(comparison, "status_of", lambda _cmd, name: (job_set(rest, name), None))
    paths = [path for path in sorted(CASES.glob("*.json")) if path.stem not in case.without]
    assert len(paths) == len(list(CASES.glob("*.json"))) - len(case.without)
    how = Namespace(cmd=str(TRAINWAY), on="k8s/test", image=BUSYBOX, timeout=90.0, settle=SETTLE_S)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        differences = dict(
            zip(
                (path.stem for path in paths),
                pool.map(lambda path: comparison.run_case(path, how), paths),
                strict=True,
            )
        )
    assert {name: lines for name, lines in differences.items() if lines} == {}


def test_the_comparison_itself_agrees_over_the_command_line(
    new_home: Callable[[str], Installation],
) -> None:
    home = new_home("")
    done = subprocess.run(
        [
            sys.executable,
            str(PROGRAM),
            *("--cmd", str(TRAINWAY), "--on", "k8s/test", "--image", BUSYBOX),
            *(word for name in LITERAL for word in ("--case", name)),
            *("--settle", str(SETTLE_S), str(CASES)),
        ],
        env=home.environ(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-2000:]}"
    assert f"{len(LITERAL)}/{len(LITERAL)} passed" in done.stdout


def job_set(rest: Rest, name: str) -> Json:
    """What `jobs show -o json` shows of a JobSet's status."""
    status: Json = rest.get(name)["status"]["jobSet"]
    return status


def kubeconfig_with_test(cluster: Access, namespace: str, file: Path) -> Path:
    """A kubeconfig whose context `test` is the cluster and the namespace."""
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    chosen = next(each for each in config["contexts"] if each["name"] == config["current-context"])
    context = {**chosen["context"], "namespace": namespace}
    config["contexts"] = [{"name": "test", "context": context}]
    file.write_text(yaml.safe_dump({**config, "current-context": "test"}))
    return file
