"""What the documentation shows works, and what it points to is there."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from trainway.api.kinds import KINDS
from trainway.api.manifest import parse_manifests
from trainway.api.runtime import ClusterTrainingRuntime
from trainway.api.trainjob import TrainJob
from trainway.cli.app import MODULES, app
from trainway.compiler.framework import Framework
from trainway.compiler.registry import built_in_plugins
from trainway.compiler.trainjob import Target, compile_trainjob
from trainway.runtimes import builtin_runtime, names
from trainway.schema.defaulting import with_defaults

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = sorted([*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")])
TRAINER = "trainer.kubeflow.org/v1alpha1"


def text(path: str) -> str:
    return (REPOSITORY / path).read_text("utf-8")


def defaulted(obj: dict[str, Any]) -> dict[str, Any]:
    value: dict[str, Any] = with_defaults(KINDS[TRAINER, obj["kind"]].schema(), obj)
    return value


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8"))
    local = [target for target in targets if not target.startswith("http")]

    assert [target for target in local if not (page.parent / target).exists()] == []


def test_the_quickstart_and_the_test_command_are_those_of_the_makefile() -> None:
    readme, makefile = text("README.md"), text("Makefile")

    assert "make install\n.venv/bin/trainway explain -f examples/torch-ddp.yaml\n" in readme
    assert "## Test\n\n```bash\nmake test\n```\n" in readme
    named = set(re.findall(r"`make ([a-z]+)`", readme + text("AGENTS.md")))
    assert named <= set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))


def test_the_readme_shows_the_messages_that_are_printed() -> None:
    job = """
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: TrainJob
    metadata: {name: demo}
    spec:
      runtimeRef: {name: torch-distributed}
      trainer: {numNodes: -1, comand: [python]}
    """

    result = CliRunner().invoke(app, ["explain", "-f", "-"], input=job)

    assert result.exit_code == 1
    for line in result.stderr.splitlines():
        assert line.replace("<stdin>", "job.yaml") in text("README.md")


def test_the_command_line_page_names_every_command_option_and_runtime() -> None:
    page = text("docs/explain.md")

    for command in MODULES:
        assert f"trainway {command}" in page
        help_text = CliRunner().invoke(app, [command, "--help"]).stdout
        for option in re.findall(r"--[a-z]+", help_text):
            assert option in page or option == "--help"
    for name in names():
        assert f"`{name}`" in page


def test_the_plugin_of_the_architecture_page_works() -> None:
    (source,) = re.findall(r"```python\n(.*?)```", text("docs/architecture.md"), re.DOTALL)
    namespace: dict[str, Any] = {}
    exec(source, namespace)  # noqa: S102 - our own page
    (data,) = parse_manifests(text("examples/torch-ddp.yaml"))
    data["metadata"]["namespace"] = "team-a"
    runtime = builtin_runtime("torch-distributed")
    assert runtime is not None

    compiled = compile_trainjob(
        TrainJob.parse(defaulted(data)),
        ClusterTrainingRuntime.parse(defaulted(runtime)),
        Target(framework=Framework([*built_in_plugins(), namespace["Team"]()])),
    )

    (jobset,) = compiled.objects
    (job,) = jobset["spec"]["replicatedJobs"]
    (container,) = job["template"]["spec"]["template"]["spec"]["containers"]
    assert {"name": "TEAM", "value": "team-a"} in container["env"]


def test_every_defect_has_its_line() -> None:
    page = text("docs/compatibility.md")

    for defect in [*(f"D{n}" for n in range(1, 20)), *(f"N{n}" for n in range(1, 9))]:
        assert f"\n| {defect} |" in page


def test_ci_and_pre_commit_run_what_the_makefile_runs() -> None:
    subprocess.run(["bash", "-n", REPOSITORY / ".ci" / "run"], check=True)
    (repo,) = parse_manifests(text(".pre-commit-config.yaml"))[0]["repos"]
    entries = [hook["entry"].replace(".venv/bin/", "$(BIN)/") for hook in repo["hooks"]]

    assert "step make install\nstep make lint\nstep make test\n" in text(".ci/run")
    for entry in entries:
        assert f"@{entry}" in text("Makefile")
