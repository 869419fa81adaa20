"""Tasks for real: the installed command runs them on this machine."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from environments import REPOSITORY
from installation import TRAINWAY, Installation, installed

SECRET = "open-sesame"  # noqa: S105 - not one of ours
SLOW = ("pydantic", "cryptography", "httpx", "rich", "trainway.api.kinds", "trainway.runtimes")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installed(tmp_path_factory.mktemp("tasks")) as installation:
        yield installation


@pytest.fixture
def written(tmp_path: Path) -> "Written":
    return Written(tmp_path / "task.yaml")


@dataclass(frozen=True)
class Written:
    path: Path

    def __call__(self, text: str) -> str:
        self.path.write_text(text)
        return str(self.path)


def refused(here: Installation, *words: str, code: int = 1) -> str:
    done = subprocess.run(
        [TRAINWAY, *words], cwd=REPOSITORY, env=here.environ(), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    return done.stderr


def test_two_nodes_with_setup_and_run(here: Installation) -> None:
    lines = here.run("run", "examples/task.yaml", "--env", "STEPS=1").splitlines()

    assert sorted(lines) == [
        "node-0 | node 0 of 2, head 127.0.0.1: step 1",
        "node-0 | setup on node 0",
        "node-1 | node 1 of 2, head 127.0.0.1: step 1",
        "node-1 | setup on node 1",
    ]


def test_variables_come_from_everywhere_and_secrets_are_not_shown(
    here: Installation, written: Written, tmp_path: Path
) -> None:
    task = written(
        "name: Secretive\nenvs: {A: null, B: file}\nsecrets: {S: null}\n"
        'run: echo "$A $B $C ${#S}"; env | grep -c "^TRAINWAY_TASK_ID=sky-managed-"'
    )
    (tmp_path / ".env").write_text("A=from-a-file\nC='three'\n")
    given = ["--env-file", str(tmp_path / ".env"), "--env", "B=option", "--secret", f"S={SECRET}"]

    printed = here.run("run", task, *given)
    shown = here.run("jobs", "show", "secretive", "-o", "yaml")
    dry = here.run("run", "--dry-run", task, *given)
    explained = here.run("explain", task, *given)
    again = here.run("jobs", "rerun", "secretive").split()[-1]
    here.run("jobs", "wait", again)

    assert printed.splitlines() == [
        f"node-0 | from-a-file option three {len(SECRET)}",
        "node-0 | 1",
    ]
    assert here.run("jobs", "logs", again, "--raw").splitlines()[0].endswith(str(len(SECRET)))
    for text in (shown, dry, explained):
        assert SECRET not in text
        assert "'***'" in text


def test_files_are_where_the_task_wants_them(
    here: Installation, written: Written, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x").write_text("content\n")
    task = written(
        f"workdir: {tmp_path}/data\nfile_mounts: {{/mnt/given: {tmp_path}/data}}\n"
        "run: cat x /mnt/given/x; touch /mnt/given/y 2>/dev/null || echo read-only"
    )

    assert here.run("run", task).splitlines() == [
        "node-0 | content",
        "node-0 | content",
        "node-0 | read-only",
    ]


@dataclass(frozen=True)
class Case:
    name: str
    text: str
    code: int
    said: str


@pytest.mark.parametrize(
    "case",
    [
        Case("run fails", "run: exit 7", 4, ""),
        Case("setup fails", "setup: exit 3\nrun: echo never", 4,
             "node-0 | setup failed with exit status 3\n"),
        Case("exit code recovers", "resources: {job_recovery: {recover_on_exit_codes: [33]}}\n"
             "run: |\n  echo try $TRAINWAY_RESTART_ATTEMPT\n"
             "  [ $TRAINWAY_RESTART_ATTEMPT = 2 ] || exit 33", 0,
             "node-0 | try 0\nnode-0 | try 1\nnode-0 | try 2\n"),
        Case("pipeline", "name: p\n---\nname: one\nrun: echo 1\n---\nname: two\nrun: echo 2", 0,
             "one-0 | 1\ntwo-0 | 2\n"),
        Case("pipeline stops", "name: one\nrun: exit 1\n---\nname: two\nrun: echo never", 4, ""),
        Case("group ends with its primary task", "name: g\nexecution: parallel\n"
             "primary_tasks: [main]\n---\nname: main\nrun: echo $SKYPILOT_JOBGROUP_NAME\n---\n"
             "name: helper\nrun: sleep 600", 0, "main-0 | g\n"),
    ],
    ids=lambda case: case.name,
)  # fmt: skip
def test_how_tasks_end(here: Installation, written: Written, case: Case) -> None:
    printed = here.run("run", written(case.text), code=case.code)
    assert re.sub(" +", " ", printed) == case.said  # how wide names are depends on who came first


@pytest.mark.parametrize(
    "case",
    [
        Case("service", "service: {readiness_probe: /, replicas: 1}\nresources: {ports: 80}", 1,
             "service: services are checked, but they cannot be run yet\n"),
        Case("pool", "pool: {workers: 1}", 1,
             "pool: it makes this the task of a worker pool; use trainway jobs pool apply\n"),
        Case("managed secret", "secrets: {S: null}", 1,
             "secrets.S: it has no value; pass one with --secret S=VALUE\n"),
        Case("exposed secret", f"secrets: {{S: {SECRET}}}\nworkdir: /$S", 1,
             "secrets.S: it is used in a section that is shown in plain text; move it to envs\n"),
        Case("error", "runn: x", 1, 'line 1, column 1: runn: Unknown field: did you mean "run"?\n'),
        Case("twice", "run: x\nrun: y", 2, 'line 2, column 1: the key "run" appears twice\n'),
    ],
    ids=lambda case: case.name,
)  # fmt: skip
def test_what_is_not_run(here: Installation, written: Written, case: Case) -> None:
    task = written(case.text)

    said = refused(here, "run", task, code=case.code)
    assert said.removeprefix("error: ") == f"{task}: {case.said}"


def test_options_that_a_task_does_not_take(here: Installation, written: Written) -> None:
    said = refused(here, "run", written("run: x"), "--runtime", "torch-distributed", code=2)

    assert said == "error: runtime cannot be set for a task\nhint: set it in the file\n"


def test_validate_loads_no_more_than_it_needs(written: Written) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", TRAINWAY, "validate", written("run: x")],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}

    assert "trainway.api.task.task" in loaded
    assert [name for name in SLOW if name in loaded] == []
