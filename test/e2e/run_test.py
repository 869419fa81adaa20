"""`trainway run` as people use it: real server, real agents, real processes."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gate import Gate
from installation import TIMEOUT_S, TRAINWAY, Installation, installed, is_alive, kill, processes_of

TRAIN: dict[str, Any] = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "train"},
    "spec": {"runtimeRef": {"name": "torch-distributed"}},
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installed(tmp_path_factory.mktemp("home")) as installation:
        yield installation


def finished(home: Installation, *words: str, text: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(TRAINWAY), "run", *words],
        env=home.environ(),
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )


def test_logs_go_to_stdout_and_the_rest_to_stderr(home: Installation) -> None:
    done = finished(home, "--name", "words", "--", "sh", "-c", "echo out; echo err >&2")
    assert done.returncode == 0
    assert sorted(done.stdout.splitlines()) == ["node-0 | err", "node-0 | out"]
    assert re.search(r"^words: Succeeded", done.stderr, re.MULTILINE)


def test_a_failure_is_the_exit_status_and_the_last_line(home: Installation) -> None:
    done = finished(home, "--name", "fails", "--", "sh", "-c", "exit 7")
    assert done.returncode == 4
    last = done.stderr.splitlines()[-1]
    assert last.startswith("fails: Failed")
    assert last.endswith(": node-0 exited with 7 (attempt 1 of 1)")


def test_who_failed_first_is_blamed_and_not_who_was_stopped(home: Installation) -> None:
    """The others end when they are stopped: one as torchrun does, with 1, one by the signal."""
    script = """
    case $TRAINWAY_RANK in
        1) echo the reason >&2; exit 7 ;;
        0) trap 'exit 1' TERM ;;
    esac
    sleep 600 & wait
    """
    words = ("--name", "gang", "--nodes", "3", "--oversubscribe", "--", "sh", "-c", script)
    done = finished(home, *words)
    assert done.returncode == 4
    *_, last, line = done.stderr.splitlines()
    assert re.fullmatch(
        r"gang: Failed after \d+s: node-1 exited with 7 \(attempt 1 of 1\)"
        r"(; the other 2 nodes were stopped)?",
        last,
    ), last
    assert line == "  node-1 | the reason"
    status = home.job("gang")["status"]
    assert (status["exitCode"], status["failure"]["node"]) == (7, "node-1")
    assert status["reason"] == "FailedJobs"
    shown = home.run("jobs", "show", "gang")
    assert "first failed job" not in shown.partition("TIME")[0]
    assert re.search(r"node-1 +Failed +no +0 +7 failed first", shown)


def test_a_program_that_is_not_there_fails_the_job(home: Installation) -> None:
    done = finished(home, "--", "no-such-program")
    assert done.returncode == 4
    assert "Traceback" not in done.stdout + done.stderr


def test_a_script_gets_its_arguments_and_variables_as_they_are(
    home: Installation, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text("import json, os, sys\nprint(json.dumps([sys.argv[1:], os.environ['A']]))\n")
    words = ["$(HOME)", "$$", "$(A)$", "--x=ä b", "`id`", "\\n"]
    # A runtime of another framework, since torchrun may or may not be here.
    done = finished(
        home, "--runtime", "jax-distributed", "--env", "A=$(HOME) $$ ä", str(script), "--", *words
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.removeprefix("node-0 | ")) == [words, "$(HOME) $$ ä"]


def test_several_nodes_run_and_are_told_apart(home: Installation) -> None:
    done = finished(home, "--nodes", "3", "--", "sh", "-c", "echo $JOB_COMPLETION_INDEX")
    assert sorted(done.stdout.splitlines()) == [f"node-{rank} | {rank}" for rank in range(3)]


def test_detached_jobs_are_named(home: Installation) -> None:
    name, id_ = home.run("run", "-d", "--name", "away", "--", "true").split()
    assert name == "away"
    assert home.job(id_)["metadata"]["id"] == id_


def test_secrets_of_any_job_reach_it_and_nobody_else(home: Installation) -> None:
    hidden = "a-value-that-nobody-sees"
    script = ("sh", "-c", "test ${#TOKEN} = 24 && echo $PLAIN")
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "command": list(script)}]}
    role = {"name": "x", "template": {"spec": {"backoffLimit": 0, "template": {"spec": pod}}}}
    jobset = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"generateName": "hidden-"},
        "spec": {"replicatedJobs": [role]},
    }
    train = {**TRAIN, "spec": {**TRAIN["spec"], "trainer": {"command": list(script)}}}
    options = ("--secret", f"TOKEN={hidden}", "--env", "PLAIN=plain")
    for words, text in (
        (("--", *script), ""),
        (("-",), json.dumps(jobset)),
        (("-",), json.dumps(train)),
        (("-",), f"run: {script[2]}"),
    ):
        done = finished(home, *options, *words, text=text)
        assert (done.returncode, done.stdout.endswith("| plain\n")) == (0, True), done.stderr
        name = re.findall(r"^(\S+): Succeeded", done.stderr, re.MULTILINE)[0]
        assert hidden not in home.run("jobs", "show", name, "-o", "json")


def test_a_job_that_takes_too_long_says_so(home: Installation) -> None:
    words = ("--timeout", "1s", "--restarts", "2", "--nodes", "2", "-n", "slow")
    done = finished(home, *words, "--", "sleep", "600")
    assert done.returncode == 4
    last = done.stderr.splitlines()[-1]
    assert re.fullmatch(
        r"slow: Failed after \d+s: DeadlineExceeded: it ran past its timeout of 1s", last
    ), done.stderr


def test_the_last_report_of_progress_counts(home: Installation) -> None:
    script = (
        "from trainway.sdk.kubeflow import update_trainjob_status as report; "
        "print(report(20), report(60), report(80, metrics={'loss': 0.25}))"
    )
    done = finished(home, "-n", "reports", "--", sys.executable, "-c", script)
    assert done.stdout == "node-0 | True False False\n", done.stderr
    progress = home.job("reports")["status"]["progress"]
    assert progress["progressPercentage"] == 80
    assert progress["metrics"] == [{"name": "loss", "value": "0.25"}]


def test_objects_come_from_stdin(home: Installation) -> None:
    jobset = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "typed"},
        "spec": {"replicatedJobs": [{"name": "main", "template": template("cat /c/key")}]},
    }
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    items = [config | {"data": {"key": "from a file"}}, jobset]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    done = finished(home, "-", text=text)
    assert (done.returncode, done.stdout) == (0, "main-0 | from a file\n"), done.stderr


def template(command: str) -> dict[str, Any]:
    container = {
        "name": "main",
        "command": ["sh", "-c", command],
        "volumeMounts": [{"name": "c", "mountPath": "/c"}],
    }
    volumes = [{"name": "c", "configMap": {"name": "c"}}]
    pod = {"restartPolicy": "Never", "containers": [container], "volumes": volumes}
    return {"spec": {"backoffLimit": 0, "template": {"spec": pod}}}


def test_what_is_wrong_with_a_file_is_said_line_by_line(home: Installation, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(json.dumps(TRAIN | {"spec": {"runtimeRef": {"name": "nothing"}, "typo": 1}}))
    done = finished(home, str(file))
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert all(line.startswith(f"{file}: TrainJob/train: ") for line in lines)
    assert any("spec.typo" in line for line in lines)


def test_a_job_that_never_fits_is_refused_with_the_numbers(home: Installation) -> None:
    done = finished(home, "--cpus", "9999", "--", "true")
    assert done.returncode == 1
    error, hint = done.stderr.splitlines()
    assert error.startswith("error: ")
    assert "9999" in error
    assert "--oversubscribe" in hint
    assert finished(home, "--cpus", "9999", "--oversubscribe", "--", "true").returncode == 0


def test_a_server_killed_while_a_job_is_shown_changes_nothing(
    home: Installation, gate: Gate
) -> None:
    shown = home.start("run", "--", *gate.command("here"))
    visitor = gate.next()
    kill(home.server_pid())
    visitor.let_go()
    printed, _ = shown.communicate(timeout=TIMEOUT_S)
    assert shown.returncode == 0, printed
    lines = [line for line in printed.splitlines() if line.startswith("node-0 | ")]
    assert lines == ["node-0 | here at the gate", "node-0 | here through the gate"]


def test_without_a_terminal_a_second_interrupt_cancels(home: Installation, gate: Gate) -> None:
    with home.start("run", "--", *gate.command()) as shown:
        visitor = gate.next()
        assert shown.stdout is not None
        until(shown.stdout, "at the gate")
        shown.send_signal(signal.SIGINT)
        until(shown.stdout, "press Ctrl-C again to cancel it")
        assert is_alive(visitor.pid)
        shown.send_signal(signal.SIGINT)
        printed = shown.stdout.read()
    assert shown.returncode == 130, printed
    assert processes_of(visitor.env["TRAINWAY_JOB_ID"]) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_ended_says_that_its_job_goes_on(
    home: Installation, gate: Gate, number: signal.Signals
) -> None:
    shown = subprocess.Popen(
        [str(TRAINWAY), "run", "--name", "left", "--", *gate.command()],
        env=home.environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    visitor = gate.next()
    with shown:
        until(shown.stderr, "left: Running")
        shown.send_signal(number)
        _, printed = shown.communicate(timeout=TIMEOUT_S)
    job = visitor.env["TRAINWAY_JOB_ID"]
    assert (shown.returncode, printed) == (
        128 + number,
        (
            f"left keeps running. To see it: trainway jobs logs -f {job}\n"
            f"To end it: trainway jobs cancel {job}\n"
        ),
    )
    assert is_alive(visitor.pid)
    visitor.let_go()
    home.run("jobs", "wait", job)


def until(stream: Any, text: str) -> str:
    """Read lines up to the one with the text."""
    for line in stream:
        if text in line:
            return str(line)
    raise AssertionError(f"{text!r} was never printed")


class Terminal:
    """A command in a terminal of its own."""

    def __init__(self, home: Installation, *words: str) -> None:
        self._seen = ""
        self._fd, inner = os.openpty()
        self._process = subprocess.Popen(
            ["setsid", "--ctty", str(TRAINWAY), *words],
            stdin=inner, stdout=inner, stderr=inner, env=home.environ() | {"TERM": "xterm"},
        )  # fmt: skip
        os.close(inner)

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def wait_for(self, text: str) -> None:
        """Read until the text has appeared."""
        while text not in self._seen:
            self._seen += os.read(self._fd, 65536).decode(errors="replace")

    def end(self) -> tuple[int, str]:
        """The exit status, and all that was printed."""
        while True:
            try:
                data = os.read(self._fd, 65536)
            except OSError:  # how a terminal ends on Linux
                break
            if not data:
                break
            self._seen += data.decode(errors="replace")
        os.close(self._fd)
        return self._process.wait(), self._seen


def test_a_terminal_shows_state_and_coloured_logs(home: Installation, gate: Gate) -> None:
    terminal = Terminal(home, "run", "--name", "seen", "--nodes", "2", "--", *gate.command("w"))
    visitors = [gate.next() for _ in range(2)]
    terminal.wait_for("Running")
    for visitor in visitors:
        visitor.let_go()
    status, printed = terminal.end()
    assert status == 0, printed
    assert "\x1b[1mseen\x1b[0m" in printed
    assert re.search(r"\x1b\[\d+mnode-1 \| \x1b\[0mw through the gate", printed)
    assert re.search(r"seen: Succeeded[^\n]*\n$", printed.replace("\r", ""))


def test_an_interrupt_asks_and_can_leave_the_job_alone(home: Installation, gate: Gate) -> None:
    terminal = Terminal(home, "run", "--name", "kept", "--", *gate.command())
    visitor = gate.next()
    terminal.wait_for("Running")
    terminal.type("\x03")
    terminal.wait_for("d: detach, c: cancel the job, Enter: continue")
    terminal.type("d\n")
    status, printed = terminal.end()
    assert status == 0
    assert (
        f"kept keeps running. To see it: trainway jobs logs -f {visitor.env['TRAINWAY_JOB_ID']}"
        in printed
    )
    visitor.let_go()
    home.run("jobs", "wait", visitor.env["TRAINWAY_JOB_ID"])


def test_an_interrupt_asks_and_can_cancel_the_job(home: Installation, gate: Gate) -> None:
    terminal = Terminal(home, "run", "--name", "dropped", "--", *gate.command())
    visitor = gate.next()
    terminal.wait_for("Running")
    terminal.type("\x03")
    terminal.wait_for("Enter: continue")
    terminal.type("c\n")
    status, printed = terminal.end()
    assert status == 130
    assert "dropped: Cancelled" in printed
    assert processes_of(visitor.env["TRAINWAY_JOB_ID"]) == []
