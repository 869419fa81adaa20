"""What the documentation shows works, and what it points to is there."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from documented_table import DocumentedTable
from installation import Installation, installed

from trainway.agent.kubelet.variables import VARIABLES
from trainway.api.kinds import KINDS
from trainway.api.manifest import parse_manifests
from trainway.api.runtime import ClusterTrainingRuntime
from trainway.api.trainjob import TrainJob
from trainway.backends.base import Backend, BackendSettings
from trainway.cli.app import app
from trainway.compiler.framework import Framework
from trainway.compiler.registry import built_in_plugins
from trainway.compiler.trainjob import Target, compile_trainjob
from trainway.engine.phases import Phase
from trainway.runtimes import builtin_runtime, names
from trainway.schema.defaulting import with_defaults
from trainway.sdk.address import Home
from trainway.sdk.transport import BASE_PATH, Transport

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = sorted([*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")])
TRAINER = "trainer.kubeflow.org/v1alpha1"
COMMANDS = (
    "docs/checkpoints.md",
    "docs/cloud-providers.md",
    "docs/clouds.md",
    "docs/clusters.md",
    "docs/costs.md",
    "docs/dashboard.md",
    "docs/data-cache.md",
    "docs/data.md",
    "docs/environments.md",
    "docs/explain.md",
    "docs/finetuning.md",
    "docs/initializers.md",
    "docs/metrics.md",
    "docs/mpijob.md",
    "docs/notifications.md",
    "docs/operator.md",
    "docs/optimizer.md",
    "docs/queues.md",
    "docs/recovery.md",
    "docs/running.md",
    "docs/schedules.md",
    "docs/server.md",
    "docs/storage.md",
    "docs/sweeps.md",
    "docs/tuning.md",
    "docs/worker-pools.md",
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installed(tmp_path_factory.mktemp("documentation")) as installation:
        yield installation


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_into_a_page_lead_to_a_heading(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]*)#([^)]+)\)", page.read_text("utf-8"))
    local = [(target, anchor) for target, anchor in links if not target.startswith("http")]

    for target, anchor in local:
        linked = page.parent / target if target else page
        assert anchor in anchors(linked), f"{target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """The headings of a page, as links to them are written."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_every_page_can_be_found_from_the_index() -> None:
    index = text("docs/index.md")

    for page in REPOSITORY.glob("docs/**/*.md"):
        assert page.name == "index.md" or f"{page.name})" in index


def test_the_quickstart_and_the_test_command_are_those_of_the_makefile() -> None:
    readme, makefile = text("README.md"), text("Makefile")

    assert re.search(r"```bash\nmake install\n\.venv/bin/trainway run [^\n]+\n```", readme)
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


def test_the_quickstart_prints_what_the_readme_says(home: Installation) -> None:
    command, shown = re.findall(
        r"make install\n\.venv/bin/trainway ([^\n]+)\n```.*?```text\n(.*?)```",
        text("README.md"),
        re.DOTALL,
    )[0]

    printed = home.run(*shlex.split(command))

    assert sorted(printed.splitlines()) == sorted(shown.splitlines())


@pytest.mark.parametrize(
    ("page", "number"),
    [
        ("README.md", 0),
        *(("docs/sdk.md", number) for number in range(3)),
        *(("docs/variants.md", number) for number in range(2)),
        ("docs/sweeps.md", 0),
    ],
)
def test_the_programs_that_use_the_sdk_run(
    page: str, number: int, home: Installation, tmp_path: Path
) -> None:
    source = re.findall(r"```python\n(.*?)```", text(page), re.DOTALL)[number]
    program = tmp_path / "program.py"
    program.write_text(source)

    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=tmp_path,
        env=home.environ(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    for result in re.findall(r"^ *print\(.*\)  # (.+)$", source, re.MULTILINE):
        assert result in done.stdout


def test_a_secret_beside_a_job_is_passed_to_it(home: Installation) -> None:
    (manifest,) = re.findall(r"```yaml\n(apiVersion.*?)```", text("docs/keys.md"), re.DOTALL)

    assert home.run("run", "-", text=manifest) == "node-0 | the token has 10 characters\n"


def test_the_modules_that_the_architecture_names_are_there() -> None:
    page = text("docs/architecture.md")
    source = REPOSITORY / "src" / "trainway"
    packages = "agent|api|backends|cli|compiler|engine|jobset|kube|operator|runtimes|sdk|server"

    named = set(re.findall(rf"`((?:{packages})/[a-z_/.]*[a-z_])`", page))

    assert len(named) > 30
    for name in named:
        path = source / name
        assert path.exists() or path.with_suffix(".py").exists(), name


def test_the_variables_of_a_job_are_documented(home: Installation) -> None:
    page = text("docs/running.md")

    printed = home.run("run", "--", "env")

    ours = re.findall(r"\| (TRAINWAY_\w+)=", printed)
    assert "TRAINWAY_RANK" in ours
    internal = {"TRAINWAY_HOME", "TRAINWAY_CONTAINER"}
    assert [name for name in ours if f"`{name}`" not in page and name not in internal] == []


def test_the_server_page_names_every_route(home: Installation) -> None:
    page = text("docs/server.md")
    home.run("jobs", "list")

    found = Home(home.home)
    description = Transport(found.address(found.server_info())).request("GET", "/openapi.json")

    for path, methods in description["paths"].items():
        name = path.removeprefix(BASE_PATH).replace("{ref}", "{job}")
        verb = name.rpartition("/")[2]
        assert f"{name}`" in page or f"`{verb}`" in page
        for method in methods:
            assert method.upper() in page


def test_the_pages_name_every_phase_command_option_and_runtime() -> None:
    pages = "".join(text(page) for page in COMMANDS)

    for phase in Phase:
        assert phase in pages
    for path, command in commands(app, click.Context(app)):
        assert path in pages
        for parameter in command.params:
            for option in parameter.opts if isinstance(parameter, click.Option) else ():
                assert option in pages, f"{path} {option}"
    for name in names():
        assert f"`{name}`" in pages


def commands(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    """Every command as one types it, without the name of the program."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if not isinstance(command, click.Group):
            yield name, command
            continue
        for verb, nested in commands(command, context):
            yield f"{name} {verb}", nested


def executed_programs() -> dict[str, Any]:
    """What the programs of the architecture page define."""
    namespace: dict[str, Any] = {}
    for source in re.findall(r"```python\n(.*?)```", text("docs/architecture.md"), re.DOTALL):
        exec(source, namespace)  # noqa: S102 - our own page
    return namespace


def test_the_backend_of_the_architecture_page_is_one(tmp_path: Path) -> None:
    page = executed_programs()
    row, made = page["FAMILY"], page["ToyBackend"](BackendSettings(tmp_path, "shelf"))
    members = [name for name in vars(Backend) if not name.startswith("_")]

    assert row.backend == f"toy_backend.backend:{type(made).__name__}"
    assert made.name == "toy/shelf"
    assert [name for name in members if not hasattr(made, name)] == []


def test_the_plugin_of_the_architecture_page_works() -> None:
    namespace = executed_programs()
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

    steps = re.findall(r"^(?:step|tests) make ([a-z-]+)", text(".ci/run"), re.MULTILINE)
    assert steps == ["install", "lint", "test", "test-hosts", "test-cluster"]
    for entry in entries:
        assert f"@{entry}" in text("Makefile")


def test_the_variables_of_a_job_are_those_of_the_code() -> None:
    told = DocumentedTable("docs/running.md", "variables").column("Value")
    ours = {f"`{variable.name}`": variable.meaning for variable in VARIABLES}
    assert {name: told.get(name) for name in ours} == ours


def test_every_module_that_the_glossary_names_exists() -> None:
    rows = re.findall(r"^\| .* \| (`.*`) \|$", text("docs/glossary.md"), re.MULTILINE)
    named = [path for row in rows for path in re.findall(r"`([^`]+)`", row)]

    assert named
    assert [path for path in named if not (REPOSITORY / "src/trainway" / path).is_file()] == []
