"""What tasks leave to other programs: bash runs their scripts, and git knows how to ignore."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.agent.kubelet.environment import expand
from trainway.api.task.testing import IGNORED, Ignored
from trainway.compiler.task_script import Scripts, command
from trainway.jobset.literal_text import literal


@dataclass(frozen=True)
class Script:
    name: str
    setup: str
    run: str
    code: int
    said: str


SCRIPTS = [
    Script("both", "echo setup $0; X=1", "echo run $0 $X", 0, "setup setup\nrun run\n"),
    Script("setup fails", "exit 3", "echo never", 3, "setup failed with exit status 3\n"),
    Script("run fails", "", "false; exit 7", 7, ""),
    Script("setup alone", "echo a", "", 0, "a\n"),
    Script("nothing", "", "", 0, ""),
    Script("no errexit", "", "false; echo on", 0, "on\n"),
    Script("text stays", "", "echo '$(A)' \"$((1 + 1))\" '$$'", 0, "$(A) 2 $$\n"),
    Script("ids", "", 'echo "$SKYPILOT_TASK_ID $TRAINWAY_TASK_ID"', 0, "sky_7-0 sky_7-0\n"),
    Script("ranks", "echo $SKYPILOT_SETUP_NODE_RANK", "echo $TRAINWAY_NODE_RANK"
           " ${SKYPILOT_SETUP_NODE_RANK-unset}", 0, "5\n5 unset\n"),
]  # fmt: skip


@pytest.mark.parametrize("case", SCRIPTS, ids=lambda case: case.name)
def test_script(case: Script) -> None:
    words = command(Scripts(case.setup, case.run))
    done = subprocess.run(
        [expand(word, {}) for word in words],
        env={
            "PATH": "/usr/bin:/bin",
            "TRAINWAY_JOB_ID": "7",
            "SKYPILOT_NODE_RANK": "5",
            "SKYPILOT_TASK_ID": "sky_@-0",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (case.code, case.said)


def test_literal_is_undone_by_kubernetes() -> None:
    for text in ("$(A)", "$$", "$$(A)", "a$", "$A", "$(($$))"):
        assert expand(literal(text), {"A": "wrong"}) == text


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("case", IGNORED, ids=lambda case: case.name)
def test_git_says_the_same(case: Ignored, tmp_path: Path) -> None:
    for path in (*case.kept, *case.left):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    (tmp_path / ".gitignore").write_text(case.rules)
    git = ["git", "-c", "core.excludesFile=/dev/null", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    said = subprocess.run(
        [*git, "check-ignore", "--stdin", "-z"],
        input="\0".join((*case.kept, *case.left)),
        capture_output=True,
        text=True,
        check=False,
    )

    assert sorted(said.stdout.split("\0")[:-1]) == sorted(case.left)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_workdir_from_git_is_cloned_at_its_ref(tmp_path: Path) -> None:
    source = tmp_path / "host" / "repo.git"
    source.mkdir(parents=True)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-C", str(source)]
    subprocess.run([*git, "init", "--quiet"], check=True)
    for name in ("first", "second"):
        (source / name).touch()
        subprocess.run([*git, "add", name], check=True)
        subprocess.run([*git, "commit", "--quiet", "-m", name], check=True)
        subprocess.run([*git, "tag", name], check=True)
    repository = {"url": "https://host/repo.git", "ref": "first"}
    words = command(Scripts("ls; touch made-by-setup", "ls"), repository)

    for _ in range(2):  # a restart begins anew
        done = subprocess.run(
            [expand(word, {}) for word in words],
            env={
                "PATH": os.environ["PATH"],
                "TRAINWAY_OUTPUT_DIR": str(tmp_path),
                "SKYPILOT_NODE_RANK": "0",
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": f"url.{tmp_path}/host/.insteadOf",
                "GIT_CONFIG_VALUE_0": "https://host/",
            },
            capture_output=True,
            text=True,
            check=True,
        )

        assert done.stdout == "first\nfirst\nmade-by-setup\n"


@pytest.mark.parametrize("workdir", ["home/sky_workdir", "jobs/1/work"])
def test_files_that_came_along_are_put_in_their_places(tmp_path: Path, workdir: str) -> None:
    came = tmp_path / "came"
    (came / "workdir" / "sub").mkdir(parents=True)
    (came / "workdir" / "sub" / "a").write_text("a\n")
    (came / "mount-0").write_text("b\n")
    copies = [
        (f"{came}/workdir", "~/sky_workdir"),
        (f"{came}/mount-0", "~/it's here/b"),
        (f"{came}/workdir", f"{tmp_path}/data"),
        (f"{came}/mount-0", "beside"),
        (f"{came}/mount-0", "~/sky_workdir/more/c"),
    ]
    own = {} if workdir.startswith("home") else {"TRAINWAY_WORK_DIR": f"{tmp_path}/{workdir}"}
    run = "pwd; cat sub/a ~/it*/b ~/../data/sub/a beside more/c"
    done = subprocess.run(
        [expand(word, {}) for word in command(Scripts("", run), copies=copies, travels=True)],
        env={"PATH": os.environ["PATH"], "HOME": f"{tmp_path}/home", **own},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == f"{tmp_path}/{workdir}\na\nb\na\nb\nb\n"
