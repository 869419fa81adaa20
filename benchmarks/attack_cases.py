"""What an attacker on the same machine tries, and what comes of it; `attack.py` starts it.

Each line is one attack: how often it got through, or what it cost the owner, and the most that may
be. Exit status 1 if one got through. Everything stays on loopback, in a home directory of its own,
and is bounded in count and time. Names choose some of the attacks.
"""

import json
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import suite
from benchmarks.attack_target import HOST, Target, opened, target
from benchmarks.suite import Row, Rows
from benchmarks.workbench import TRAINWAY, container_job, timed, trainway

RESETS, CONNECTIONS = 200, 400
PODS = (1_001, 100_000, 1_000_000_000)
LONG_LINE = 300 << 20
PRIVATE = "an attacker must not read this"

Attack = Callable[[Target], Iterator[Row]]


def main(names: list[str]) -> int:
    """Attack, print, judge."""
    return suite.run(names, ATTACKS, rows)


def rows(chosen: list[Attack]) -> Rows:
    """All of them against one server."""
    with target() as attacked:
        for attack in chosen:
            yield from attack(attacked)


def finished(*command: str) -> str:
    """The id of a job that has run a command."""
    from trainway import Client  # noqa: PLC0415 (not needed for the rest)

    job = Client().run(container_job(list(command)))
    job.wait()
    return job.id


def reset(attacked: Target) -> Iterator[Row]:
    """Send a job and reset the connection at once, so that the server cannot tell who sent it."""
    before = len(attacked.jobs())
    body = json.dumps({"objects": [container_job(["/bin/true"])]}).encode()
    head = f"POST /api/v1/jobs HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: application/json\r\n"
    request = head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body
    for _ in range(RESETS):
        with attacked.connect() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall(request)
    attacked.ask("GET", "/health")  # it is answered behind all of them
    ran = len(attacked.jobs()) - before
    yield Row("reset connections that ran a job", ran, "", 0, f"of {RESETS}")


def routes(attacked: Target) -> Iterator[Row]:
    """Ask for everything without a token."""
    asked = [*attacked.routes(), ("GET", "/docs"), ("GET", "/openapi.json")]
    asked.remove(("GET", "/health"))
    statuses = [attacked.ask(method, path)[0] for method, path in asked]
    let_in = sum(status != 401 for status in statuses)
    yield Row("routes that answer without a token", let_in, "", 0, f"of {len(asked)}, all 401")
    health, _ = attacked.ask("GET", "/health")
    yield Row("and /health is closed too", health != 200, "", 0, f"it answers {health}")


def pages(attacked: Target) -> Iterator[Row]:
    """Ask as the owner's browser would for a page of somebody else, even with the token."""
    refused = 0
    asked = attacked.routes()
    for method, path in asked:
        headers = {"Sec-Fetch-Site": "cross-site"}
        refused += attacked.ask(method, path, with_token=True, headers=headers)[0] == 403
    yield Row("requests of other sites' pages that are let in", len(asked) - refused, "", 0,
              f"of {len(asked)}, all 403")  # fmt: skip
    ran = attacked.home / "ran"
    version = "client.authentication.k8s.io/v1"
    plugin = {"apiVersion": version, "command": "touch", "args": [str(ran)]}
    config = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": f"https://{HOST}:1"}}],
        "users": [{"name": "u", "user": {"exec": plugin}}],
    }
    kubeconfig = attacked.home / "kubeconfig"
    kubeconfig.write_text(json.dumps(config))
    attacked.ask("GET", f"/backends?kubeconfig={kubeconfig}", with_token=True)
    yield Row("programs that a GET runs", ran.exists(), "", 0, "an exec plugin of a kubeconfig")


def connections(attacked: Target) -> Iterator[Row]:
    """Connect again and again, and say nothing, or not enough."""
    for what, said in (
        ("that say nothing", b""),
        ("with half a head", b"GET /api/v1/jobs HTTP/1.1\r\nHost: a\r\nX: "),
        (
            "with half a body",
            b"POST /api/v1/jobs HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{",
        ),
    ):
        held = [attacked.connect() for _ in range(CONNECTIONS)]
        for connection in held:
            connection.send(said)
        with opened(held):
            slowest = max(timed(trainway, "jobs", "list") for _ in range(5))
            over_tcp, _ = attacked.ask("GET", "/jobs", with_token=True)
        yield Row(f"jobs list beside {CONNECTIONS} connections {what}", slowest, "s", 1.0,
                  f"worst of 5; over TCP {over_tcp}")  # fmt: skip
    log = (attacked.home / "server.log").stat().st_size / 1e6
    yield Row("server.log after that", log, "MB", 20)


def job_files(attacked: Target) -> Iterator[Row]:
    """Put something else in the place of files that the server reads of a job."""
    secret = attacked.home / "secret"
    secret.write_text(PRIVATE)
    for name, make in (
        ("a FIFO", os.mkfifo),
        ("a link to a file", lambda path: path.symlink_to(secret)),
        ("a device", lambda path: path.symlink_to("/dev/zero")),
    ):
        job = finished("/bin/echo", "hello")
        shown = json.loads(trainway("jobs", "show", job, "-o", "json"))
        places = [
            Path(shown["status"]["outputDir"], ".trainway", "result.json"),
            *Path(shown["status"]["jobDir"], "logs").iterdir(),
        ]
        for place in places:
            place.parent.mkdir(exist_ok=True)
            place.unlink(missing_ok=True)
            make(place)
        started = time.perf_counter()
        answers = [
            attacked.ask("GET", f"/jobs/{job}/{what}", with_token=True)
            for what in ("result", "logs")
        ]
        took = time.perf_counter() - started
        listed = timed(trainway, "jobs", "list")
        leaked = any(PRIVATE.encode() in body for _, body in answers)
        said = ", ".join(str(status) for status, _ in answers)
        yield Row(f"{name} as result and log: secrets shown", leaked, "", 0, f"answers {said}")
        yield Row(f"{name}: both answers, and jobs list", took + listed, "s", 3.0)


def texts(attacked: Target) -> Iterator[Row]:
    """Send what JSON cannot hold, or what no list could show again."""
    job = container_job(["/bin/true"])
    pod = job["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    pod["spec"]["fieldOfTomorrow"] = "NUMBER"  # pods may have fields that nobody knows yet
    sound = json.dumps({"objects": [job], "options": {"labels": {"a": "LABEL"}}})
    status, _ = attacked.ask("POST", "/jobs", sound, with_token=True)
    yield Row("the same job without any of these is refused", status != 201, "", 0, f"{status}")
    bodies = {
        "a lone surrogate": sound.replace("LABEL", "\\ud800"),
        "NaN": sound.replace('"NUMBER"', "NaN"),
        "1e400": sound.replace('"NUMBER"', "1e400"),
        "5,000 digits": sound.replace('"NUMBER"', "9" * 5000),
        "100,000 brackets": sound.replace('"NUMBER"', "[" * 100_000 + "]" * 100_000),
        "a workdir of 1 MB": sound.replace(
            '"labels"', f'"workdir": "/{"x" * 1_000_000}", "labels"'
        ),
    }
    for what, body in bodies.items():
        status, _ = attacked.ask("POST", "/jobs", body, with_token=True)
        yield Row(f"{what} is taken, or is our fault", not 400 <= status < 500, "", 0,
                  f"it is answered with {status}")  # fmt: skip
    name = finished("/bin/true")
    status, _ = attacked.ask("GET", f"/jobs/{name}/logs?since=99999999999d", with_token=True)
    yield Row("since=99999999999d is our fault", status >= 500, "", 0, f"it is {status}")
    trainway("jobs", "list", "--all", "-o", "json")


def pods(attacked: Target) -> Iterator[Row]:
    """Ask for far too many pods."""
    before = attacked.memory()
    for count in PODS:
        job = container_job(["/bin/sleep", "60"])
        spec = job["spec"]["replicatedJobs"][0]["template"]["spec"]
        spec |= {"parallelism": count, "completions": count, "completionMode": "Indexed"}
        body = json.dumps({"objects": [job], "options": {"oversubscribe": True}})
        started = time.perf_counter()
        status, answer = attacked.ask("POST", "/jobs", body, with_token=True)
        took = time.perf_counter() - started
        said = json.loads(answer).get("error", {}).get("message", "")[:90]
        yield Row(f"{count:,} pods are taken", status == 201, "", 0, f"{took:.2f} s, {said}")
    yield Row("memory that the server took for them", attacked.memory() - before, "MB", 20)


def long_line(attacked: Target) -> Iterator[Row]:
    """Write one line of 300 MB, and look at it."""
    write = f"import sys\nfor _ in range({LONG_LINE >> 20}): sys.stdout.write('x' * 1048576)\n"
    job = finished(sys.executable, "-c", write)
    before, most, shown = attacked.memory(), 0.0, 0
    started = time.perf_counter()
    with subprocess.Popen([TRAINWAY, "jobs", "logs", job], stdout=subprocess.PIPE) as process:
        while process.stdout is not None and (data := process.stdout.read(1 << 20)):
            shown += len(data)
            most = max(most, attacked.memory() - before)
    took = time.perf_counter() - started
    yield Row("of a line of 300 MB is not shown", max(LONG_LINE - shown, 0) / 1e6, "MB", 0)
    yield Row("and showing it takes", took, "s", 60)
    yield Row("and takes of the server's memory", most, "MB", 50)


ATTACKS: dict[str, Attack] = {
    "reset": reset,
    "routes": routes,
    "pages": pages,
    "connections": connections,
    "files": job_files,
    "texts": texts,
    "pods": pods,
    "long-line": long_line,
}
