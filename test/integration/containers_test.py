"""Jobs in containers of real images, by podman: a store and an image of our own for each run.

The image holds a few programs of this machine and their libraries, so no registry is needed.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from patience import until

from trainway.engine.testing import jobset
from trainway.json_types import Json
from trainway.server.testing import RunningServer

IMAGE = "localhost/trainway-test:1"
PROGRAMS = ("sh", "sleep", "cat", "env", "touch", "mkdir")


class Podman:
    """podman with a store of its own, as far from this machine's settings as it can be."""

    def __init__(self, home: Path) -> None:
        self._home = home
        runtime = ["--runtime", "runc"] if shutil.which("runc") else []
        self.flags = [
            *("--root", str(home / "root"), "--runroot", str(home / "run")),
            *("--tmpdir", str(home / "tmp")),
            *("--storage-driver", "vfs", "--cgroup-manager", "cgroupfs"),
            *("--events-backend", "file", *runtime),
        ]
        # By default podman raises these limits, which takes a privilege.
        self.run_flags = ["--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096"]

    @property
    def environ(self) -> dict[str, str]:
        """The environment of a job that is to use it."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": os.environ.get("HOME", "/"),
            "TRAINWAY_CONTAINER_FLAGS": " ".join(self.flags),
            "TRAINWAY_CONTAINER_RUN_FLAGS": " ".join(self.run_flags),
        }

    def __call__(self, *words: str) -> str:
        done = subprocess.run(
            ["podman", *self.flags, *words], check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def containers(self) -> list[str]:
        """All that there are, running or not."""
        return self("ps", "-a", "--format", "{{.Names}}").split()

    def make_image(self) -> None:
        """Import a few programs."""
        archive = self._home / "image.tar"
        with tarfile.open(archive, "w", dereference=True) as tar:
            for path in _programs():
                tar.add(path, path.lstrip("/"))
            for name in PROGRAMS:
                if (found := shutil.which(name)) and found != f"/bin/{name}":
                    tar.add(found, f"bin/{name}")
        change = ["--change", 'ENTRYPOINT ["/bin/cat", "/proc/self/cmdline"]']
        self("import", *change, str(archive), IMAGE)


def _programs() -> list[str]:
    """Programs and the libraries that they load, by their paths."""
    found: dict[str, None] = {}
    for name in PROGRAMS:
        program = shutil.which(name)
        assert program is not None
        found.setdefault(program)
        listed = subprocess.run(["ldd", program], check=False, capture_output=True, text=True)
        for library in re.findall(r"(/\S+) \(0x", listed.stdout):
            found.setdefault(library)
    return list(found)


@pytest.fixture(scope="module")
def podman() -> Iterator[Podman]:
    if shutil.which("podman") is None:
        if os.environ.get("CI"):
            pytest.fail("podman is not installed, and CI must have it")
        pytest.skip("podman is not installed")
    home = Path(tempfile.mkdtemp(prefix="tw"))
    found = Podman(home)
    found.make_image()
    yield found
    found("rm", "-f", "-t", "0", "-a")
    found("rmi", "-f", "-a")
    shutil.rmtree(home)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    with RunningServer(tmp_path / "home") as running:
        yield running


def contained(command: str, **container: Any) -> Json:
    job = jobset("demo", command)
    role = job["spec"]["replicatedJobs"][0]["template"]["spec"]
    role["template"]["spec"]["containers"][0].update({"image": IMAGE, **container})
    return job


def pod_of(job: Json) -> Json:
    pod: Json = job["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    return pod


def submit(server: RunningServer, podman: Podman, *objects: Json, **options: Any) -> str:
    environ = {**podman.environ, **options.pop("environ", {})}
    job = server.submit(*objects, isolation="container", environ=environ, **options)
    job_id: str = job["metadata"]["id"]
    return job_id


def log_of(server: RunningServer, ref: str) -> str:
    events = server.stream(f"/jobs/{ref}/logs")
    return "".join(f"{event.data['text']}\n" for event in events if event.event == "log")


def wait_for_line(server: RunningServer, ref: str, line: str) -> None:
    for event in server.stream(f"/jobs/{ref}/logs?follow=true"):
        if event.event == "log" and event.data["text"] == line:
            return
    raise AssertionError(f"it never said {line}: {server.get(ref)['status']}")


def marked(job_id: str) -> list[int]:
    """All processes that carry the mark of a job."""
    mark = f"TRAINWAY_JOB_ID={job_id}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def test_a_job_sees_its_image_its_files_and_its_variables(
    server: RunningServer, podman: Podman, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "data").write_text("from the workdir\n")
    command = """
        cat data /etc/config/key; echo "$SECRET"; cat /proc/mounts > "$TRAINWAY_OUTPUT_DIR/m"
        [ -e /usr/bin/python3 ] || echo isolated; [ "$OUTSIDE" ] || echo clean
        cat "$KUBEFLOW_TRAINER_SERVER_TOKEN" > /dev/null && echo token; echo "$HOME $TRAINWAY_RANK"
    """
    mounts = [{"name": "config", "mountPath": "/etc/config"}]
    env = [{"name": "SECRET", "value": "two\nlines"}, {"name": "HOME", "value": "/nowhere"}]
    job = contained(command, volumeMounts=mounts, env=env)
    pod_of(job)["volumes"] = [{"name": "config", "configMap": {"name": "c"}}]
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    objects = [job, {**config, "data": {"key": "from a volume\n"}}]
    ref = submit(server, podman, *objects, workdir=str(work), environ={"OUTSIDE": "1"})
    done = server.wait(ref)
    said = log_of(server, ref)
    assert done["status"]["phase"] == "Succeeded", said
    assert said.splitlines() == [
        "from the workdir", "from a volume", "two", "lines", "isolated", "clean", "token",
        "/nowhere 0",
    ]  # fmt: skip
    assert (Path(done["status"]["outputDir"]) / "m").stat().st_size > 0
    until(lambda: podman.containers() == [], "a container is left")


def test_the_entry_point_of_an_image_and_exit_codes(server: RunningServer, podman: Podman) -> None:
    job = contained("", args=["/proc/self/comm"])
    del pod_of(job)["containers"][0]["command"]
    ref = submit(server, podman, job)
    assert server.wait(ref)["status"]["phase"] == "Succeeded"
    assert log_of(server, ref) == "/bin/cat\0/proc/self/cmdline\0/proc/self/comm\0cat\n"
    failing = submit(server, podman, contained("exit 7"))
    assert server.wait(failing)["status"]["exitCode"] == 7
    missing = contained("true", image="localhost/nope:1", imagePullPolicy="Never")
    ref = submit(server, podman, missing)
    assert server.wait(ref)["status"]["exitCode"] == 125
    events = server.request("GET", f"/jobs/{ref}/events").body["items"]
    told = [event["message"] for event in events if event["reason"] == "Failed"]
    assert any("start" in each and "localhost/nope:1: image not known" in each for each in told)


def test_sigterm_reaches_the_program(server: RunningServer, podman: Podman) -> None:
    script = "trap 'echo stopped; exit 0' TERM; echo up; while :; do sleep 0.05; done"
    job = contained(script)
    pod_of(job)["terminationGracePeriodSeconds"] = 30
    ref = submit(server, podman, job)
    wait_for_line(server, ref, "up")
    assert len(podman.containers()) == 1
    server.request("POST", f"/jobs/{ref}/cancel")
    assert server.wait(ref)["status"]["phase"] == "Cancelled"
    assert log_of(server, ref) == "up\nstopped\n"
    until(lambda: (podman.containers(), marked(ref)) == ([], []), "something is left")


def test_a_container_that_ignores_sigterm_is_removed(server: RunningServer, podman: Podman) -> None:
    ref = submit(server, podman, contained("trap '' TERM; echo up; while :; do sleep 1; done"))
    wait_for_line(server, ref, "up")
    server.request("POST", f"/jobs/{ref}/cancel")
    assert server.wait(ref)["status"]["phase"] == "Cancelled"
    until(lambda: (podman.containers(), marked(ref)) == ([], []), "something is left")


def test_hooks_and_probes_run_in_the_container(server: RunningServer, podman: Podman) -> None:
    hook = {"postStart": {"exec": {"command": ["touch", "/hooked"]}}}
    probe = {"exec": {"command": ["cat", "/hooked"]}, "periodSeconds": 1, "failureThreshold": 30}
    command = "until [ -e /hooked ] && [ -e $TRAINWAY_OUTPUT_DIR/go ]; do sleep 0.05; done"
    job = contained(command, lifecycle=hook, readinessProbe=probe)
    ref = submit(server, podman, job)

    def is_ready(job: Json) -> bool:
        return any(node["ready"] for node in job["status"]["nodes"])

    assert not Path("/hooked").exists()
    ready = server.wait(ref, is_ready)
    (Path(ready["status"]["outputDir"]) / "go").touch()
    assert server.wait(ref)["status"]["phase"] == "Succeeded"


@pytest.mark.parametrize("ending", ["recovered", "cancelled"])
def test_nothing_is_left_of_a_killed_agent(
    server: RunningServer, podman: Podman, ending: str
) -> None:
    script = 'echo "up $TRAINWAY_RESTART_ATTEMPT"; [ $TRAINWAY_RESTART_ATTEMPT = 1 ] || sleep 600'
    job = contained(script)
    job["spec"]["failurePolicy"] = {"maxRestarts": 1}
    ref = submit(server, podman, job)
    wait_for_line(server, ref, "up 0")
    (before,) = podman.containers()
    agent = Path(server.get(ref)["status"]["jobDir"]) / "agent.json"
    os.kill(json.loads(agent.read_text())["pid"], signal.SIGKILL)
    if ending == "cancelled":
        server.request("POST", f"/jobs/{ref}/cancel")
    phase = server.wait(ref)["status"]["phase"]
    assert phase == {"recovered": "Succeeded", "cancelled": "Cancelled"}[ending]
    assert before not in podman.containers()
    until(lambda: (podman.containers(), marked(ref)) == ([], []), "something is left")


def test_without_a_tool_nothing_is_stored(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "home", env={"PATH": str(tmp_path)}) as server:
        body = {"objects": [contained("true")], "options": {"isolation": "container"}}
        answer = server.request("POST", "/jobs", body)
        assert answer.status == 503
        assert answer.body["error"]["code"] == "unavailable"
        assert "podman" in answer.body["error"]["message"]
        assert server.jobs() == []
