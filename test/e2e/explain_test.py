"""The command line as people run it: the installed `trainway`, and hostile input."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from trainway.api.manifest import parse_manifests
from trainway.cli.app import app
from trainway.cli.output import to_yaml

REPOSITORY = Path(__file__).resolve().parents[2]
KEYS = ("--secret", "HF_TOKEN=x")
"""What the example with a managed secret needs."""
EXAMPLES = sorted((REPOSITORY / "examples").glob("*.yaml"))
PIPELINE = REPOSITORY / "examples" / "pipeline.yaml"
WORKER_POOL = REPOSITORY / "examples" / "worker-pool.yaml"
WARNED = {
    PIPELINE: f"{PIPELINE}: Task/squares: warning: tasks: only `trainway run` knows the outputs of"
    " tasks; they are not replaced\n",
    WORKER_POOL: f"{WORKER_POOL}: Task/warm: warning: pool: it makes this the task of a worker"
    " pool; use trainway jobs pool apply\n",
}
"""What is not the same in a cluster, and has to be said."""
TRAINWAY = Path(sys.executable).with_name("trainway")

E1 = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: t, namespace: ns, uid: U}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    numNodes: 2
    command: [torchrun, train.py]
    env: [{name: A, value: "1"}]
    resourcesPerNode: {requests: {cpu: 2500m}}
"""
E1_JOBSET = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: t
  namespace: ns
  ownerReferences:
  - {apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, name: t, uid: U, controller: true,
     blockOwnerDeletion: true}
spec:
  suspend: false
  replicatedJobs:
  - name: node
    groupName: default
    replicas: 1
    template:
      metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
      spec:
        parallelism: 2
        completions: 2
        template:
          spec:
            containers:
            - name: node
              image: pytorch/pytorch:2.13.0-cuda13.0-cudnn9-runtime
              command: [torchrun, train.py]
              resources: {requests: {cpu: 2500m}}
              ports: [{containerPort: 29500}]
              env:
              - {name: A, value: "1"}
              - {name: PET_NNODES, value: "2"}
              - {name: PET_NPROC_PER_NODE, value: "3"}
              - name: PET_NODE_RANK
                valueFrom:
                  fieldRef:
                    fieldPath: metadata.annotations['batch.kubernetes.io/job-completion-index']
              - {name: PET_MASTER_ADDR, value: t-node-0-0.t}
              - {name: PET_MASTER_PORT, value: "29500"}
"""


def trainway(*args: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [TRAINWAY, *args], input=stdin, capture_output=True, text=True, check=False, timeout=300
    )


def test_worked_example_e1_is_printed() -> None:
    done = trainway("explain", "-f", "-", stdin=E1)

    assert (done.returncode, done.stderr) == (0, "")
    assert parse_manifests(done.stdout) == parse_manifests(E1_JOBSET)


def test_several_files_stdin_and_folders_are_read_together(tmp_path: Path) -> None:
    job, runtime = tmp_path / "job.yaml", tmp_path / "runtime"
    job.write_text(E1.replace("torch-distributed", "mine"))
    runtime.mkdir()
    shown = trainway("runtimes", "show", "torch-distributed", "-o", "json").stdout
    (runtime / "mine.json").write_text(shown.replace("torch-distributed", "mine"))
    other = E1.replace("name: t,", "name: other,")

    done = trainway("explain", "-o", "json", "-f", job, "-f", runtime, "-f", "-", stdin=other)

    assert (done.returncode, done.stderr) == (0, "")
    assert [item["metadata"]["name"] for item in json.loads(done.stdout)["items"]] == ["t", "other"]


def test_one_bad_file_of_many_means_no_output(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(E1)
    bad.write_text(E1.replace("name: t,", "name: u,").replace("numNodes: 2", "numNodes: -2"))

    done = trainway("explain", "-f", good, "-f", bad)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"{bad}: line 8, column 15: TrainJob/u: spec.trainer.numNodes: Invalid value: -2:"
        " must be greater than or equal to 0\n"
    )


@pytest.mark.parametrize(
    ("args", "status"),
    [
        (["explain", "-f", "missing.yaml"], 2),
        (["explain"], 2),
        (["explain", "-o", "xml", "-f", "-"], 2),
        (["explain", "--network", "token-ring", "-f", "-"], 2),
        (["validate", "-f", "missing.yaml"], 2),
        (["frobnicate"], 2),
        (["runtimes", "show", "nothing"], 3),
        (["crds", "nothing"], 3),
        ([], 0),
        (["--help"], 0),
        (["--version"], 0),
    ],
    ids=lambda value: " ".join(value) or "nothing" if isinstance(value, list) else "",
)
def test_the_exit_status_tells_what_happened(args: list[str], status: int) -> None:
    done = trainway(*args)

    assert done.returncode == status
    assert bool(done.stderr) == (status != 0)
    assert bool(done.stdout) == (status == 0)
    assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away_is_no_error() -> None:
    done = subprocess.run(
        ["bash", "-c", f"'{TRAINWAY}' crds | head -1"], capture_output=True, text=True, check=True
    )

    assert done.stdout == "apiVersion: apiextensions.k8s.io/v1\n"
    assert done.stderr == ""


def test_a_terminal_without_unicode_gets_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(E1.replace("train.py", "größe"), encoding="utf-8")
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}

    done = subprocess.run(
        [TRAINWAY, "explain", "-f", file], capture_output=True, env=env, check=True
    )

    assert "größe" in done.stdout.decode()


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_explains_cleanly(file: Path) -> None:
    secrets = KEYS if file.stem == "secret-task" else ()
    words = ["explain", "--redact", "-f", str(file), *secrets]
    results = [CliRunner().invoke(app, words) for _ in range(2)]

    said = WARNED.get(file, "")
    assert [(result.exit_code, result.stderr) for result in results] == [(0, said)] * 2
    assert results[0].stdout == results[1].stdout
    assert "JobSet" in {item["kind"] for item in parse_manifests(results[0].stdout)}


def test_all_examples_explain_together() -> None:
    result = CliRunner().invoke(app, ["validate", "-f", str(REPOSITORY / "examples"), *KEYS])

    assert (result.exit_code, result.stderr) == (0, "".join(WARNED.values()))


def assert_clean(text: str) -> None:
    """Explaining a text ends in output, in lines that name the file, and never in a bug."""
    result = CliRunner().invoke(app, ["explain", "--redact", "-o", "json", "-f", "-"], input=text)

    assert result.exit_code in (0, 1, 2), result.stderr
    assert "internal error" not in result.stderr
    if result.exit_code == 0:
        assert json.loads(result.stdout)["kind"] == "List"
    else:
        assert result.stdout == ""
        assert all(line.startswith("<stdin>: ") for line in result.stderr.splitlines())


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "{a: " * 100_000,
        E1.replace("torchrun", "x" * 1_000_000),
        E1.replace("name: t,", 'name: "\\e[31m\\n",'),
        E1.replace("{name: torch-distributed}", "[]"),
        E1.replace("numNodes: 2", "numNodes: 99999999999999999999"),
        E1.replace("2500m", "1e999999999"),
        E1 + E1,
        E1 + "---" + E1,
        "a: &a [*a]",
        "kind: TrainJob",
        "apiVersion: 1\nkind: 2\nmetadata: 3\nspec: 4",
        "apiVersion: [trainer.kubeflow.org/v1alpha1]\nkind: {TrainJob: 1}",
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: {}}\nspec: []",
    ],
    ids=range(14),
)
def test_hostile_input_is_refused_cleanly(text: str) -> None:
    assert_clean(text)


DOCUMENTS = [item for file in EXAMPLES for item in parse_manifests(file.read_text("utf-8"))]
JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
    | st.sampled_from(
        ["", "node", "trainer", "auto", "1e9", "-1", "0", "9" * 30, "$patch", "delete"]
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "$patch", "value", "spec", "x"]), inner, max_size=3
        )
    ),
    max_leaves=5,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of everything inside a value."""
    items = list(value.items() if isinstance(value, dict) else enumerate(value))
    inner = [(key, child) for key, child in items if isinstance(child, dict | list) and child]
    return [(*path, key) for key, _ in items] + [
        place for key, child in inner for place in places(child, (*path, key))
    ]


@st.composite
def damaged_manifests(draw: st.DrawFn) -> str:
    """An example with a few of its values replaced by junk, removed, or put elsewhere."""
    objects = json.loads(
        json.dumps(draw(st.lists(st.sampled_from(DOCUMENTS), min_size=1, max_size=2)))
    )
    for _ in range(draw(st.integers(1, 3))):
        *path, last = draw(st.sampled_from(places(objects)))
        parent = objects
        for step in path:
            parent = parent[step]
        match draw(st.sampled_from(["replace", "remove", "add"])):
            case "remove":
                del parent[last]
            case "add" if isinstance(parent, dict):
                parent[draw(st.sampled_from(["name", "numNodes", "env", "template", "zzz"]))] = (
                    draw(JUNK)
                )
            case _:
                parent[last] = draw(JUNK)
        if not objects or not places(objects):
            break
    return to_yaml(item for item in objects if isinstance(item, dict))


@given(damaged_manifests())
def test_a_damaged_manifest_is_explained_or_refused(text: str) -> None:
    assert_clean(text)


@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda data: data.decode("latin-1")))
def test_any_text_is_explained_or_refused(text: str) -> None:
    assert_clean(text.encode(errors="replace").decode())
