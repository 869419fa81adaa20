"""`trainway mpijob` against an API server that answers as it is told."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from trainway.cli.app import app
from trainway.cli.odh import plugin
from trainway.training import MPIJob, ResourceRequirements
from trainway.training.testing import JOBS, PODS, TIME, ApiServer, events, job, listing, pod

WORDS = ("--image", "team/train:v1", "--command", "python train.py")
EVENTS = "/api/v1/namespaces/team/events"
Invoke = Callable[..., Result]


@pytest.fixture
def mpijob(api: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Runs `trainway mpijob` for the namespace `team`."""
    monkeypatch.setenv("KUBECONFIG", str(api.kubeconfig(tmp_path)))

    def invoke(*words: str, **more: Any) -> Result:
        return CliRunner().invoke(app, ["mpijob", *words], prog_name="trainway", **more)

    return invoke


def test_create_says_what_kubectl_says_and_what_newcomers_need(
    api: ApiServer, mpijob: Invoke
) -> None:
    api.on("POST", JOBS, job())
    done = mpijob("create", "train", *WORDS, "--workers", "4", "--gpu", "1")
    assert (done.exit_code, done.stdout) == (0, "mpijob.kubeflow.org/train created\n")
    assert done.stderr.startswith("hint: 4 processes train on 4 times as many samples in each")
    assert api.asked[0][2]["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"] == 4


def test_a_dry_run_needs_no_cluster_and_gives_the_manifest_of_the_sdk(
    mpijob: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/nowhere")
    words = ("--workers", "4", "--cpu", "8", "--memory", "64Gi", "--gpu", "1", "--queue", "team",
             "--env", "A=b=c", "--label", "x=y", "--slots-per-worker", "2", "--retries", "0",
             "--mpi-implementation", "intel", "--timeout", "2h", "-n", "nlp")  # fmt: skip
    shown = mpijob("create", "train", *WORDS, *words, "--dry-run=client", "-o", "yaml").stdout
    same = MPIJob(
        name="train",
        namespace="nlp",
        image="team/train:v1",
        command="python train.py",
        workers=4,
        resources=ResourceRequirements(cpu="8", memory="64Gi", gpu=1),
        queue="team",
        env={"A": "b=c"},
        labels={"x": "y"},
        slots_per_worker=2,
        retries=0,
        mpi_implementation="Intel",
        timeout=7200,
    )
    assert yaml.safe_load(shown) == same.to_dict()
    file = tmp_path / "train.yaml"
    file.write_text(shown)
    again = mpijob("create", "-f", str(file), "--dry-run", "-oyaml")
    assert again.stdout == shown, again.stderr
    assert mpijob("create", "-f", str(file), "--dry-run").stdout == (
        "mpijob.kubeflow.org/train created (dry run)\n"
    )


def test_a_dry_run_of_the_server(api: ApiServer, mpijob: Invoke) -> None:
    api.on("POST", JOBS, job())
    done = mpijob("create", "train", *WORDS, "--dry-run=server")
    assert done.stdout == "mpijob.kubeflow.org/train created (server dry run)\n"
    assert "dryRun=All" in api.asked[0][1]


def test_a_queue_that_is_not_there_is_warned_of(api: ApiServer, mpijob: Invoke) -> None:
    api.on("POST", JOBS, job())
    done = mpijob("create", "train", *WORDS, "--queue", "blue")
    assert (
        'warning: there is no LocalQueue "blue" in namespace "team": the job stays suspended'
        in done.stderr
    )


def test_wait_says_how_it_goes_and_exits_with_4_if_it_fails(api: ApiServer, mpijob: Invoke) -> None:
    api.on("POST", JOBS, job())
    api.on("GET", f"{JOBS}/train", job("Created"))
    api.on("WATCH", JOBS, events(job("Running", 2), job("Failed", 3)))
    api.on("GET", PODS, listing(pod("worker", 1, {"terminated": {"exitCode": 9}})))
    done = mpijob("create", "train", *WORDS, "--wait")
    assert done.exit_code == 4
    assert done.stderr.splitlines()[1:] == [
        "train: Starting",
        "train: Running",
        "train: Failed: the worker 1 exited with status 9",
    ]
    api.on("WATCH", JOBS, events(job("Succeeded", 3)))
    assert mpijob("create", "train", *WORDS, "--wait").exit_code == 0
    api.on("WATCH", JOBS, b"")
    assert mpijob("create", "train", *WORDS, "--wait-timeout", "0.1s").exit_code == 5


@dataclass(frozen=True)
class Wrong:
    words: tuple[str, ...]
    said: str
    code: int = 2


@pytest.mark.parametrize(
    "case",
    [
        Wrong(("create",), "error: there is neither a name nor a file\n"),
        Wrong(("create", "train", "--image", "x"), "error: --command: Required value: say what"),
        Wrong(("create", "train", *WORDS, "--memory", "64"), "write 64Gi for gibibytes\n"),
        Wrong(("create", "train", *WORDS, "--slots-per-worker", "0"),
              "error: --slots-per-worker: Invalid value: 0: must be at least 1\n"),
        Wrong(("create", "Train", *WORDS), 'error: NAME: Invalid value: "Train": must be at most'),
        Wrong(("create", "train", *WORDS, "--env", "A"), "error: --env A: it must be NAME=VALUE"),
        Wrong(("create", "train", *WORDS, "--label", "a b=c"), "error: --label: Invalid value"),
        Wrong(("create", "-f", "x.yaml", "--gpu", "1"),
              "error: -f and --gpu cannot be given together\n"),
        Wrong(("create", "x", "-f", "x.yaml"),
              "error: -f and the name x cannot be given together\n"),
        Wrong(("create", "-f", "/nowhere.yaml"), "/nowhere.yaml: No such file"),
        Wrong(("get", "train", "-A"), "error: a job is named, so -A and -l make no sense\n"),
        Wrong(("get", "-n", "x", "-A"), "error: -n and -A cannot be given together\n"),
        Wrong(("get", "a/b"), "error: 'a/b' is not the name of an MPIJob\n"),
        Wrong(("delete",), "error: name the jobs to delete, or select them with -l, or give --all"),
        Wrong(("logs", "train", "--launcher", "--worker", "1"), "cannot be given together"),
        Wrong(("describe",), "error: name the jobs to describe, or select them with -l\n"),
        Wrong(("creat", "train"), 'error: no command "creat"; did you mean "create"?\n'),
        Wrong(("create", "train", "--imge", "x"), "no option --imge; did you mean --image?\n"),
        Wrong(("create", "train", *WORDS, "--workers", "0"),
              "error: --workers: Invalid value: 0: must be at least 1\n"),
        Wrong(("create", "train", *WORDS, "--workers=-1"),
              "error: --workers: Invalid value: -1: must be at least 1\n"),
        Wrong(("create", "train", *WORDS, "--workers", "1000000000"),
              "error: --workers: Invalid value: 1000000000: must be at most 100000\n"),
        Wrong(("create", "train", *WORDS, "--workers", "1e9"),
              "--workers: '1e9' is not a whole number"),
        Wrong(("create", "a" * 51, *WORDS), "must have at most 50 characters\n"),
        Wrong(("get", "-n", ""), "error: -n: '' is not the name of a namespace\n"),
        Wrong(("get", "-n", "../kube-system"),
              "error: -n: '../kube-system' is not the name of a namespace\n"),
        Wrong(("get", "--context", "nope"), "error: no context 'nope' in "),
        Wrong(("get", "--kubeconfig", "/nowhere"), "error: there is no kubeconfig /nowhere\n"),
        Wrong(("get",), "error: the cluster has no MPIJobs: their CRD is not installed\n", 1),
    ],
    ids=lambda case: " ".join(case.words),
)  # fmt: skip
def test_what_is_wrong_is_one_clear_line(mpijob: Invoke, case: Wrong) -> None:
    done = mpijob(*case.words)
    assert case.said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.exit_code == case.code
    assert done.stdout == ""


@pytest.mark.parametrize("words", [("create", "train", *WORDS), ("get",), ("logs", "train")])
def test_a_cluster_that_does_not_answer(
    mpijob: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    away = ApiServer(url="http://127.0.0.1:1").kubeconfig(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(away))
    monkeypatch.setattr("trainway.kube.client._ATTEMPTS", 1)
    done = mpijob(*words)
    assert (done.exit_code, done.stdout) == (1, "")
    *_, error, hint = done.stderr.splitlines()
    assert error.startswith("error: no answer from http://127.0.0.1:1: ")
    assert hint.startswith("hint: see whether the cluster runs")


@pytest.mark.parametrize(
    ("words", "method", "path"),
    [
        (("create", "train", *WORDS), "POST", JOBS),
        (("create", "train", *WORDS, "--dry-run=server", "-oname"), "POST", JOBS),
        (("get",), "GET", JOBS),
        (("logs", "train"), "GET", f"{JOBS}/train"),
        (("delete", "train"), "GET", f"{JOBS}/train"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else value,
)
def test_who_may_not_is_told_whom_to_ask(
    api: ApiServer, mpijob: Invoke, words: tuple[str, ...], method: str, path: str
) -> None:
    message = 'mpijobs is forbidden: User "eve" cannot do it'
    api.refuse(method, path, 403, "Forbidden", message)
    done = mpijob(*words)
    assert (done.exit_code, done.stdout) == (1, "")
    assert f"error: you have no permission: {message}\n" in done.stderr
    assert "bind the ClusterRole" in done.stderr.splitlines()[-1]


def test_a_namespace_that_is_not_there(api: ApiServer, mpijob: Invoke) -> None:
    missing = {"code": 404, "reason": "NotFound", "details": {"kind": "namespaces"}}
    api.on("POST", JOBS, missing, status=404)
    done = mpijob("create", "train", *WORDS)
    assert (done.exit_code, done.stdout) == (3, "")
    assert 'error: there is no namespace "team"\n' in done.stderr


def test_of_several_jobs_one_is_refused_and_the_others_are_created(
    api: ApiServer, mpijob: Invoke, tmp_path: Path
) -> None:
    first, second = (mpijob("create", name, *WORDS, "--dry-run", "-oyaml") for name in "ab")
    file = tmp_path / "both.yaml"
    file.write_text(f"{first.stdout}---\n{second.stdout}")
    taken = {"kind": "Status", "code": 409, "reason": "AlreadyExists", "message": "taken"}
    api.answers["POST", JOBS] = [(409, taken), (201, job())]
    done = mpijob("create", "-f", str(file))
    assert (done.exit_code, done.stdout) == (1, "mpijob.kubeflow.org/train created\n")
    assert 'error: there is already an MPIJob "a" in namespace "team" (' in done.stderr


def test_a_name_that_the_cluster_makes_up(api: ApiServer, mpijob: Invoke, tmp_path: Path) -> None:
    written = job()
    written["metadata"] = {"generateName": "train-"}
    file = tmp_path / "train.yaml"
    file.write_text(yaml.safe_dump(written))
    shown = mpijob("create", "-f", str(file), "--dry-run")
    assert shown.stdout == "mpijob.kubeflow.org/train- created (dry run)\n", shown.stderr
    assert mpijob("create", "-f", str(file), "--dry-run", "-owide").exit_code == 0
    made = job()
    made["metadata"]["name"] = "train-x7k2p"
    api.on("POST", JOBS, made)
    done = mpijob("create", "-f", str(file), "-oname")
    assert done.stdout == "mpijob.kubeflow.org/train-x7k2p\n", done.stderr


def test_other_kinds_are_not_created(mpijob: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}")
    done = mpijob("create", "-f", str(file))
    assert f"error: {file}: ConfigMap is no MPIJob\n" in done.stderr


def test_a_table_of_jobs(api: ApiServer, mpijob: Invoke) -> None:
    other = job("Failed")
    other["metadata"] |= {"name": "a-job-with-a-long-name", "uid": "2"}
    api.on("GET", JOBS, listing(job("Running"), other))
    lines = mpijob("get", "-l", "a=b").stdout.splitlines()
    assert [line.rpartition(" ")[0].rstrip() for line in lines] == [
        "NAME                    STATE    WORKERS",
        "train                   Running  0/2",
        "a-job-with-a-long-name  Failed   0/2",
    ]
    assert "labelSelector=a=b" in api.asked[0][1]
    wide = mpijob("get", "-o", "wide").stdout.splitlines()
    assert wide[0].split()[-4:] == ["QUEUE", "MPI", "SLOTS", "IMAGE"]
    assert wide[1].split()[-4:] == ["<none>", "OpenMPI", "1", "team/train:v1"]
    api.on("GET", "/apis/kubeflow.org/v2beta1/mpijobs", listing(job("Running")))
    head, row = mpijob("get", "-A").stdout.splitlines()
    assert (head.split()[0], row.split()[0]) == ("NAMESPACE", "team")


def test_objects_and_names(api: ApiServer, mpijob: Invoke) -> None:
    api.on("GET", JOBS, listing(job("Running")))
    api.on("GET", f"{JOBS}/train", job("Running"))
    assert mpijob("get", "-o", "name").stdout == "mpijob.kubeflow.org/train\n"
    assert yaml.safe_load(mpijob("get", "train", "-oyaml").stdout) == job("Running")
    assert yaml.safe_load(mpijob("get", "-oyaml").stdout)["items"] == [job("Running")]
    assert yaml.safe_load(mpijob("get", "-ojson").stdout)["kind"] == "List"


def test_no_jobs_are_no_error(api: ApiServer, mpijob: Invoke) -> None:
    api.on("GET", JOBS, listing())
    done = mpijob("get")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "No MPIJobs found in team namespace.\n"


def test_one_of_several_is_missing(api: ApiServer, mpijob: Invoke) -> None:
    api.on("GET", f"{JOBS}/train", job("Running"))
    missing = {"code": 404, "reason": "NotFound", "details": {"name": "other"}}
    api.on("GET", f"{JOBS}/other", missing, status=404)
    done = mpijob("get", "other", "train")
    assert done.exit_code == 3
    assert done.stdout.splitlines()[1].split()[:2] == ["train", "Running"]
    assert done.stderr == 'error: there is no MPIJob "other" in namespace "team"\n'


def test_a_watch_prints_what_changes(api: ApiServer, mpijob: Invoke) -> None:
    api.on("GET", JOBS, listing(job("Created", 1)), listing(job("Running", 2)), {})
    api.answers["GET", JOBS][-1] = (403, {"message": "it cannot go on for ever"})
    api.on("WATCH", JOBS, events(job("Created", 1), job("Running", 2)), b"")
    done = mpijob("get", "-w")
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [
        ["NAME", "STATE"],
        ["train", "Starting"],
        ["train", "Running"],
    ]
    assert "cannot go on for ever" in done.stderr


def test_logs_of_a_worker(api: ApiServer, mpijob: Invoke) -> None:
    worker = pod("worker", 1, {"running": {}})
    api.on("GET", f"{JOBS}/train", job("Running"))
    api.on("GET", PODS, listing(pod("worker", 0), worker))
    api.on("GET", f"{PODS}/{worker['metadata']['name']}/log", b"\xff raw\n")
    done = mpijob("logs", "train", "--worker", "1", "--tail", "3")
    assert done.stdout_bytes == b"\xff raw\n"
    assert api.asked[-1][1].endswith("/log?container=worker&tailLines=3")
    api.on("GET", PODS, listing())
    api.on("WATCH", PODS, b"")
    late = mpijob("logs", "train", "--wait-timeout", "2s")
    assert late.exit_code == 5
    assert late.stderr.splitlines() == [
        "waiting for the launcher: the job is running",
        "error: the launcher has written nothing after 2 s",
    ]


def test_suspend_and_resume_and_delete(api: ApiServer, mpijob: Invoke) -> None:
    api.on("GET", f"{JOBS}/train", job("Running"))
    api.on("PATCH", f"{JOBS}/train", job())
    assert mpijob("suspend", "train").stdout == "mpijob.kubeflow.org/train suspended\n"
    assert mpijob("resume", "train").stdout == "mpijob.kubeflow.org/train resumed\n"
    api.on("GET", JOBS, listing(job("Running")))
    api.on("DELETE", f"{JOBS}/train", {})
    deleted = 'mpijob.kubeflow.org "train" deleted\n'
    assert mpijob("delete", "train", "--no-wait").stdout == deleted
    assert mpijob("delete", "--all", "--no-wait").stdout == deleted
    missing = {"code": 404, "reason": "NotFound", "details": {"name": "train"}}
    api.on("GET", f"{JOBS}/train", missing, status=404)
    assert mpijob("delete", "train").exit_code == 3
    assert mpijob("delete", "train", "--ignore-not-found").exit_code == 0


def test_describe_says_what_could_not_be_seen(api: ApiServer, mpijob: Invoke) -> None:
    api.on("GET", f"{JOBS}/train", job("Running"))
    api.on("GET", PODS, listing(pod("launcher", 0, {"running": {}})))
    api.refuse("GET", EVENTS, 403, "Forbidden", "events is forbidden")
    done = mpijob("describe", "train")
    assert done.exit_code == 0
    assert "Not shown:    events: events is forbidden\n" in done.stdout


@pytest.mark.parametrize("state", ["Succeeded", "Suspended"])
def test_describe_blames_no_worker_that_was_stopped(
    api: ApiServer, mpijob: Invoke, state: str
) -> None:
    """Workers are stopped when the launcher has ended, and not all of them end well then."""
    api.on("GET", f"{JOBS}/train", job(state, suspend=state == "Suspended"))
    stopped = pod("worker", 0, {"terminated": {"exitCode": 255, "finishedAt": TIME}})
    launcher = pod("launcher", 0, {"terminated": {"exitCode": 0, "finishedAt": TIME}})
    api.on("GET", PODS, listing(launcher, stopped))
    api.on("GET", f"{PODS}/{launcher['metadata']['name']}/log", b"trained\n")
    api.on("GET", EVENTS, listing())
    done = mpijob("describe", "train")
    assert "Last lines of the launcher, " in done.stdout
    assert "  trained\n" in done.stdout
    assert "Culprit" not in done.stdout
    api.on("GET", f"{JOBS}/train", job("Failed"))
    assert (
        "Culprit:      the worker 0: exited with status 255\n" in mpijob("describe", "train").stdout
    )


def test_describe_goes_on_after_one_that_is_missing(api: ApiServer, mpijob: Invoke) -> None:
    missing = {"code": 404, "reason": "NotFound", "details": {"name": "other"}}
    api.on("GET", f"{JOBS}/other", missing, status=404)
    api.on("GET", f"{JOBS}/train", job("Running"))
    done = mpijob("describe", "other", "train")
    assert done.exit_code == 3
    assert done.stdout.startswith("Name:         train\n")
    assert done.stderr == 'error: there is no MPIJob "other" in namespace "team"\n'


def test_the_plugins_exit_as_kubectl_does(mpijob: Invoke) -> None:
    for words, status in ((("get", "-x"), 1), (("get",), 1), (("get", "--help"), 0)):
        done = CliRunner().invoke(plugin, ["mpijob", *words], prog_name="kubectl odh")
        assert done.exit_code == status
    assert mpijob("get", "-x").exit_code == 2


def test_the_plugins_are_the_same_commands() -> None:
    shown = CliRunner().invoke(plugin, ["mpijob", "get", "--help"], prog_name="kubectl odh")
    assert shown.stdout.startswith("Usage: kubectl odh mpijob get [OPTIONS] [NAME]...\n")
    wrong = CliRunner().invoke(plugin, ["mpijob", "get", "-x"], prog_name="oc odh")
    assert wrong.stderr.splitlines()[-1] == "hint: see oc odh mpijob get --help"
    assert "mpijob" in CliRunner().invoke(plugin, []).stdout
