import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from trainway.backends.base import Absence, BackendSettings, Feature, LogQuery
from trainway.backends.capabilities import Remote
from trainway.backends.kubernetes.backend import KubernetesBackend
from trainway.backends.kubernetes.form import JOBSET_API, VARIABLE, Offer
from trainway.backends.registry import Registry
from trainway.compiler.network import JobIdentity
from trainway.errors import TrainwayError, UnavailableError
from trainway.json_types import Json
from trainway.telemetry.api_requests import API_REQUESTS, request_samples

KUBECONFIG = """
current-context: test
contexts: [{name: test, context: {cluster: c, namespace: home}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}]
"""
LAZY = """
import sys
from pathlib import Path
from trainway.backends.base import BackendSettings
from trainway.backends.registry import Registry
import trainway.server.serving

registry = Registry(BackendSettings(Path("/nowhere")))
assert registry.get("k8s/test").name == "k8s/test"
assert registry.infras() == ["local"]
print([name for name in sys.modules if name.startswith(("aiohttp", "kubernetes_asyncio"))])
"""
WITHOUT_EXTRA = """
import asyncio, sys
from pathlib import Path
from trainway.backends.base import BackendSettings
from trainway.backends.kubernetes.backend import KubernetesBackend
from trainway.errors import UnavailableError

sys.modules["aiohttp"] = None
settings = BackendSettings(Path("/nowhere"), "test", ("{file}",))
try:
    asyncio.run(KubernetesBackend(settings, {{}}).look())
except UnavailableError as error:
    print(error.message, error.hint, sep="\\n")
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "config"
    path.write_text(KUBECONFIG)
    return str(path)


def backend(tmp_path: Path, file: str, target: str = "test", **environ: str) -> KubernetesBackend:
    return KubernetesBackend(BackendSettings(tmp_path, target, (file,)), environ)


def printed_by(program: str, home: Path) -> str:
    """What a program prints in a process that has imported nothing yet."""
    words = [sys.executable, "-c", program]
    environ = {"HOME": str(home)}
    done = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_server_that_uses_no_cluster_imports_no_client(tmp_path: Path) -> None:
    assert printed_by(LAZY, tmp_path) == "[]\n"


def test_without_the_extra_it_says_what_to_install(tmp_path: Path, file: str) -> None:
    message, hint = printed_by(WITHOUT_EXTRA.format(file=file), tmp_path).splitlines()
    assert "the package aiohttp" in message
    assert hint == "pip install 'trainway[kubernetes]'"


def test_doctor_hears_that_a_cluster_does_not_answer(tmp_path: Path, file: str) -> None:
    given = backend(tmp_path, file)

    async def survey() -> None:
        await given.survey()
        await given.close()

    asyncio.run(survey())
    (check,) = given.check()
    assert (check.name, check.ok) == ("cluster", False)
    assert check.detail.startswith("the cluster of context test cannot be used now: ")
    assert check.fix == "try: kubectl --context test get ns"
    assert given.capabilities()[Feature.GPUS]


def test_a_job_of_a_cluster_that_does_not_answer_is_forgotten_here(
    tmp_path: Path, file: str
) -> None:
    given = backend(tmp_path, file)
    handle = {
        "id": "3509",
        "kind": "JobSet",
        "namespace": "ml",
        "kubeconfig": [file],
        "context": "test",
    }
    kept = tmp_path / "jobs" / "3509" / "logs"
    kept.mkdir(parents=True)

    async def abandon() -> Absence | None:
        absence = await given.absence(handle)
        assert kept.exists()
        await given.forget(handle)
        await given.close()
        return absence

    absence = asyncio.run(abandon())
    assert isinstance(given, Remote)
    assert absence is not None
    assert absence.problem.startswith("the cluster of context test cannot be used now: ")
    assert absence.remains.endswith(
        "kubectl --context test -n ml delete jobsets,jobs,services,configmaps,secrets"
        " -l trainway.dev/job-id=3509"
    )
    assert not kept.parent.exists()


def test_where_a_job_goes(tmp_path: Path, file: str) -> None:
    assert backend(tmp_path, file).namespace("") == "home"
    assert backend(tmp_path, file, "test/ml").namespace("") == "ml"
    assert backend(tmp_path, file, "").namespace("other") == "other"
    network = backend(tmp_path, file).network(JobIdentity("demo", "ml", "demo"))
    assert network.host("node", 1) == "demo-node-0-1.demo"


def test_what_is_lost_is_said_only_where_it_is(tmp_path: Path, file: str) -> None:
    jobset = {
        "kind": "JobSet",
        "metadata": {"name": "demo"},
        "spec": {"failurePolicy": {"maxRestarts": 1}, "replicatedJobs": []},
    }
    given = backend(tmp_path, file)
    assert len(given.problems(jobset, jobset)[1]) == 1
    given._offer = Offer(frozenset({JOBSET_API}))
    assert given.problems(jobset, jobset) == ([], [])
    forced = backend(tmp_path, file, **{VARIABLE: "jobs"})
    forced._offer = given._offer
    assert len(forced.problems(jobset, jobset)[1]) == 1


def test_a_cursor_of_another_is_refused(tmp_path: Path, file: str) -> None:
    given = backend(tmp_path, file)
    given.check_logs(LogQuery())
    with pytest.raises(TrainwayError):
        given.check_logs(LogQuery(cursor="nonsense"))


def test_requests_to_api_servers_are_counted(tmp_path: Path, file: str) -> None:
    async def play() -> None:
        asking = backend(tmp_path, file)
        registry = Registry(BackendSettings(tmp_path))
        registry.put(asking)
        assert registry.api_requests() == []
        with pytest.raises(TrainwayError):
            await asking.look()
        ((host, answers),) = registry.api_requests()
        samples = list(request_samples([(host, answers), (host, answers)]))
        await registry.close()
        assert host == "http://127.0.0.1:9"
        assert set(answers) == {("GET", "<error>")}
        labels = ("<error>", "http://127.0.0.1:9", "GET")
        assert samples == [(API_REQUESTS, labels, 2 * sum(answers.values()))]

    asyncio.run(play())


@pytest.mark.parametrize("is_held", [True, False])
def test_what_is_wanted_of_a_job_is_brought_before_its_pods_go(
    tmp_path: Path, file: str, monkeypatch: pytest.MonkeyPatch, is_held: bool
) -> None:
    done: list[str] = []

    class Both:
        """A watch whose pods do not answer, and the cluster of it."""

        async def bring(self) -> None:
            done.append("bring")
            raise UnavailableError("the pod does not answer")

        async def suspend(self, _handle: Json, *, is_suspended: bool) -> None:
            done.append(f"suspend {is_suspended}")

    found = backend(tmp_path, file)
    monkeypatch.setattr(found, "_of", lambda _handle: Both())
    monkeypatch.setitem(found._watches, "a", Both())
    asyncio.run(found.suspend({"id": "a", "name": "job", "held": is_held}))
    assert done == [*["bring"] * is_held, "suspend True"]
