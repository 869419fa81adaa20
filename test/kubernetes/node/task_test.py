"""Tasks in real pods: the same file as on this machine, with its files and secrets."""

import json
from pathlib import Path

from cluster.images import SEARCH_PATH
from cluster.processes import wait_until
from installation import TIMEOUT_S, TRAINWAY, Installation
from shell_jobsets import ShellJobSet

TOOLS = "/opt/tools"
SECRET = "open-sesame"  # noqa: S105 - not one of ours


def test_the_example_runs_on_two_nodes(home: Installation, on: str) -> None:
    printed = home.run("run", "examples/task.yaml", "--env", "STEPS=1", "--on", on).splitlines()

    assert sorted(printed) == [
        "node-0 | node 0 of 2, head two-nodes-node-0-0.two-nodes: step 1",
        "node-0 | setup on node 0",
        "node-1 | node 1 of 2, head two-nodes-node-0-0.two-nodes: step 1",
        "node-1 | setup on node 1",
    ]


def test_files_and_secrets_come_along(home: Installation, on: str, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "hello.sh").write_text("#!/bin/sh\necho from the workdir\n")
    (tmp_path / "project" / "hello.sh").chmod(0o755)
    (tmp_path / "data").write_text("from a mount\n")
    task = tmp_path / "bring.yaml"
    task.write_text(
        f"workdir: {tmp_path}/project\nfile_mounts: {{/tmp/given/data: {tmp_path}/data}}\n"
        f"secrets: {{TOKEN: {SECRET}}}\n"
        'run: ./hello.sh; cat /tmp/given/data; echo "${#TOKEN} $(basename "$PWD")"'
    )

    printed = home.run("run", str(task), "--on", on).splitlines()
    shown = home.run("jobs", "show", "bring", "-o", "yaml")

    assert printed == [
        "node-0 | from the workdir",
        "node-0 | from a mount",
        f"node-0 | {len(SECRET)} sky_workdir",
    ]
    assert SECRET not in shown


AT_WORK_THEN_STUCK = """
import os, time


def at_work():
    while not os.path.exists("/tmp/go"):
        print("at work", flush=True)
        time.sleep(0.2)


def stuck():
    time.sleep(3600)


at_work()
stuck()
"""


def test_a_pod_shows_its_stacks_and_is_ended_when_it_hangs(
    home: Installation, on: str, tmp_path: Path
) -> None:
    shell = ShellJobSet("hangs", "", max_restarts=0).manifest()
    (role,) = shell["spec"]["replicatedJobs"]
    pod = role["template"]["spec"]["template"]["spec"]
    pod["containers"][0] |= {
        "command": ["python3", "-c", AT_WORK_THEN_STUCK],
        "env": [{"name": "PATH", "value": f"{TOOLS}:{SEARCH_PATH}"}],
        "volumeMounts": [{"name": "py-spy", "mountPath": f"{TOOLS}/py-spy", "readOnly": True}],
    }
    pod["volumes"] = [{"name": "py-spy", "hostPath": {"path": str(TRAINWAY.parent / "py-spy")}}]
    (tmp_path / "hangs.json").write_text(json.dumps(shell))
    job = home.submit(str(tmp_path / "hangs.json"), "--on", on, "--hang-timeout", "8s")
    assert wait_until(lambda: "at work" in home.run("jobs", "logs", job), TIMEOUT_S)

    printed = home.run("jobs", "stacks", job)
    assert "process 1 (py-spy): python3" in printed
    assert "at_work (<string>:" in printed

    home.run("jobs", "exec", job, "--", "touch", "/tmp/go")
    home.run("jobs", "wait", job, code=4)
    summary = home.job(job)["status"]["failure"]["summary"]
    assert summary.startswith("node-0 hung: no report and no line of a log for ")
    assert "it is in stuck (<string>:12)" in summary
