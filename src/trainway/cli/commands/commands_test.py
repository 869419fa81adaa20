import json
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner, Result

from trainway.api.kinds import KINDS
from trainway.api.manifest import parse_manifests
from trainway.cli.app import app
from trainway.cli.commands import explain
from trainway.compiler.compile import NETWORKS
from trainway.runtimes import builtin_runtime, builtin_runtimes, names

JOB = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: job, namespace: ns}
spec:
  runtimeRef: {name: %s}
  trainer: {numNodes: %s}
"""


def invoke(*args: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, args, input=stdin)


def test_explain_knows_every_network() -> None:
    (network,) = [option for option in explain.command.params if option.name == "network"]

    assert isinstance(network.type, click.Choice)
    assert list(network.type.choices) == list(NETWORKS)


def test_explain_prints_yaml_documents() -> None:
    result = invoke("explain", "-f", "-", stdin=JOB % ("torch-distributed", 2))

    assert (result.exit_code, result.stderr) == (0, "")
    (jobset,) = parse_manifests(result.stdout)
    assert (jobset["kind"], jobset["metadata"]["name"]) == ("JobSet", "job")


def test_explain_prints_a_json_list() -> None:
    result = invoke("explain", "-o", "json", "-f", "-", stdin=JOB % ("torch-distributed", 2))

    printed = json.loads(result.stdout)
    assert (printed["apiVersion"], printed["kind"]) == ("v1", "List")
    assert [item["kind"] for item in printed["items"]] == ["JobSet"]


def test_explain_makes_new_keys_each_time_unless_they_are_masked() -> None:
    job = JOB % ("deepspeed-distributed", 3)

    outputs = [invoke("explain", "-f", "-", stdin=job).stdout for _ in range(2)]
    masked = [invoke("explain", "--redact", "-f", "-", stdin=job).stdout for _ in range(2)]

    assert outputs[0] != outputs[1]
    assert masked[0] == masked[1]
    assert "REDACTED" in masked[0]
    (hostfile,) = [item for item in parse_manifests(masked[0]) if item["kind"] == "ConfigMap"]
    assert "  hostfile: |\n    job-node-0-0.job slots=1\n" in masked[0]
    assert hostfile["data"]["hostfile"].count("\n") == 3


@pytest.mark.parametrize("command", ["explain", "validate"])
def test_an_invalid_object_ends_with_1_and_a_line_per_error(command: str) -> None:
    text = (JOB % ("torch-distributed", -1)) + "  typo: 1\n"

    result = invoke(command, "-f", "-", stdin=text)

    assert (result.exit_code, result.stdout) == (1, "")
    first, second = result.stderr.splitlines()
    job = "TrainJob/job: spec"
    assert first.startswith(
        f"<stdin>: line 7, column 23: {job}.trainer.numNodes: Invalid value: -1"
    )
    assert second.startswith(f"<stdin>: line 8, column 3: {job}.typo: Unknown field")


@pytest.mark.parametrize("command", ["explain", "validate"])
def test_an_error_in_json_or_in_a_list_has_its_line_too(command: str) -> None:
    (job,) = parse_manifests(JOB % ("torch-distributed", -1))
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [job, job]}, indent=1)
    lines = [number for number, line in enumerate(text.splitlines(), 1) if '"numNodes": -1' in line]

    result = invoke(command, "-f", "-", stdin=text)

    first, second = result.stderr.splitlines()
    assert first.startswith(f"<stdin>: line {lines[0]}, column ")
    assert "Duplicate value" in second


@pytest.mark.parametrize("command", ["explain", "validate"])
def test_an_unknown_kind_alone_in_a_file_is_an_error(command: str, tmp_path: Path) -> None:
    service = tmp_path / "service.yaml"
    service.write_text("apiVersion: v1\nkind: Service\nmetadata: {name: s}\n")

    result = invoke(command, str(service))

    assert result.exit_code == 1
    assert result.stderr == f"{service}: Service/s: v1 Service is not a job or runtime\n"
    (tmp_path / "job.yaml").write_text(JOB % ("torch-distributed", 1))
    assert invoke(command, str(tmp_path)).exit_code == 0


@pytest.mark.parametrize("command", ["explain", "validate"])
def test_a_name_may_be_generated_and_a_status_does_not_count(command: str) -> None:
    text = (JOB % ("torch-distributed", 1)).replace("name: job", "generateName: job-")
    result = invoke(command, "-f", "-", stdin=f"{text}status: {{what: ever}}\n")

    assert (result.exit_code, result.stderr) == (0, "")
    assert ("name: job-xxxxx" in result.stdout) == (command == "explain")


@pytest.mark.parametrize("command", ["explain", "validate"])
def test_an_unreadable_file_ends_with_2(command: str, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("a: 1\na: 2\n")

    result = invoke(command, "-f", str(file))

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f'{file}: line 2, column 1: the key "a" appears twice\n'


@pytest.mark.parametrize("command", ["explain", "validate"])
def test_warnings_go_to_stderr(command: str) -> None:
    other = "\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ns}\n"

    result = invoke(command, "-f", "-", stdin=JOB % ("torch-distributed", 1) + other)

    assert result.exit_code == 0
    assert result.stderr.startswith("<stdin>: Namespace/ns: warning: ")
    assert result.stderr.count("\n") == 1


def test_validate_counts_and_can_be_quiet() -> None:
    one = JOB % ("torch-distributed", 1)
    two = one + "\n---\n" + one.replace("name: job", "name: other")

    assert invoke("validate", "-f", "-", stdin=one).stdout == "1 object is valid\n"
    assert invoke("validate", "-f", "-", stdin=two).stdout == "2 objects are valid\n"
    assert invoke("validate", "-q", "-f", "-", stdin=two).stdout == ""


def test_crds_prints_all() -> None:
    result = invoke("crds")

    assert result.exit_code == 0
    crds = list(yaml.load_all(result.stdout, Loader=yaml.CSafeLoader))
    assert [item["spec"]["names"]["kind"] for item in crds] == [kind for _, kind in KINDS]


@pytest.mark.parametrize(
    "name", ["trainjobs", "trainjob", "TrainJob", "trainjobs.trainer.kubeflow.org"]
)
def test_crds_prints_one(name: str) -> None:
    (item,) = parse_manifests(invoke("crds", name).stdout)

    assert item["metadata"]["name"] == "trainjobs.trainer.kubeflow.org"


@dataclass(frozen=True)
class Missing:
    args: list[str]
    error: str
    hint: str


MISSING = [
    Missing(
        ["crds", "trainjbo"],
        'no CustomResourceDefinition "trainjbo"',
        'did you mean "trainjob"?',
    ),
    Missing(["crds", "x"], 'no CustomResourceDefinition "x"', "trainway crds prints all of them"),
    Missing(
        ["runtimes", "show", "torch"],
        'no built-in runtime "torch"',
        'did you mean "torch-distributed"?',
    ),
    Missing(
        ["runtimes", "show", "jax-distribute"],
        'no built-in runtime "jax-distribute"',
        'did you mean "jax-distributed"?',
    ),
    Missing(
        ["runtimes", "show", "zzz"],
        'no built-in runtime "zzz"',
        "trainway runtimes list shows all of them",
    ),
]


@pytest.mark.parametrize("case", MISSING, ids=lambda case: " ".join(case.args))
def test_what_is_not_found_ends_with_3_and_a_hint(case: Missing) -> None:
    result = invoke(*case.args)

    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == f"error: {case.error}\nhint: {case.hint}\n"


def test_runtimes_list_prints_a_table() -> None:
    lines = invoke("runtimes", "list").stdout.splitlines()

    assert lines[0].split() == ["NAME", "FRAMEWORK", "POLICY", "IMAGE"]
    assert [line.split()[0] for line in lines[1:]] == names()
    assert "pytorch/pytorch:2.13.0-cuda13.0-cudnn9-runtime" in lines[5]


def test_runtimes_list_prints_other_forms() -> None:
    assert invoke("runtimes", "list", "-o", "name").stdout.split() == names()
    for form in ("yaml", "json"):
        assert parse_manifests(invoke("runtimes", "list", "-o", form).stdout) == builtin_runtimes()


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_runtimes_show_prints_one(form: str) -> None:
    result = invoke("runtimes", "show", "jax-distributed", "-o", form)

    assert parse_manifests(result.stdout) == [builtin_runtime("jax-distributed")]
