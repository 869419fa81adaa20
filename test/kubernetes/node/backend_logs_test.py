"""The logs of jobs in real pods: every line once, whatever breaks, and soon."""

import asyncio
import subprocess
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final
from urllib.parse import urlsplit

import yaml
from cluster.access import Access
from cluster.processes import wait_until
from installation import TRAINWAY, Installation, kill
from shell_jobsets import ShellJobSet
from tcp_proxy import proxy_to

from trainway.backends.kubernetes.container_log import Slots
from trainway.backends.kubernetes.log_keeper import LogKeeper
from trainway.backends.logs.inotify import DirectoryChanges
from trainway.kube.client import Client
from trainway.kube.connection import Connection, load_connection
from trainway.kube.informer import Change, Informer
from trainway.kube.resources import PODS

PATIENCE_S: Final = 120.0
LINES: Final = 5000
"""Of a pod in an attempt."""
LATENCY_S: Final = 0.2

# Ten lines at a time, so that what is broken is broken between lines.
NUMBERED: Final = """
number() {
  i=$1
  while [ $i -lt $2 ]; do
    for each in 0 1 2 3 4 5 6 7 8 9; do
      echo "$ATTEMPT $JOB_COMPLETION_INDEX $((i + each))"
    done
    i=$((i + 10))
    usleep 5000
  done
}
await() { until [ -e /gate/$1 ]; do usleep 50000; done; }
trap 'exit 143' TERM
number 0 1000
touch /gate/begun-$ATTEMPT-$JOB_COMPLETION_INDEX
await on-$ATTEMPT
number 1000 %(lines)d
touch /gate/done-$ATTEMPT-$JOB_COMPLETION_INDEX
[ $ATTEMPT = 1 ] && exit 0
await fail
[ $JOB_COMPLETION_INDEX = 1 ] && exit 1
while :; do usleep 50000; done
"""


class Gate:
    """Files by which a test and the pods wait for each other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        folder.chmod(0o777)

    def open(self, name: str) -> None:
        (self.folder / name).touch()

    def wait(self, *names: str) -> None:
        arrived = [self.folder / name for name in names]
        assert wait_until(lambda: all(file.exists() for file in arrived), PATIENCE_S), names


def ended(home: Installation, job: str, phase: str = "Succeeded") -> None:
    home.run(
        "jobs", "wait", job, "--timeout", f"{PATIENCE_S:g}s", code=0 if phase == "Succeeded" else 4
    )
    assert home.phase(job) == phase


def test_every_line_comes_once_through_restarts_of_gang_api_server_and_server(
    home: Installation, node_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    gate = Gate(tmp_path / "gate")
    jobset = ShellJobSet(
        "numbers",
        NUMBERED % {"lines": LINES},
        pods=2,
        gate=gate.folder,
        max_restarts=1,
        suspend=True,
    )
    job = jobset.submit(home, namespace, tmp_path)
    # Into a file: a pipe that nobody reads would hold everything up.
    followed = tmp_path / "followed"
    with followed.open("wb") as output:
        command = [str(TRAINWAY), "jobs", "logs", job, "-f", "--raw"]
        follower = subprocess.Popen(command, env=home.environ(), stdout=output)
    try:
        assert follower.poll() is None
        home.run("jobs", "resume", job)
        gate.wait("begun-0-0", "begun-0-1")
        gate.open("on-0")
        node_cluster.restart_api_server()
        gate.wait("done-0-0", "done-0-1")
        gate.open("fail")
        gate.wait("begun-1-0", "begun-1-1")
        gate.open("on-1")
        kill(home.server_pid())
        gate.wait("done-1-0", "done-1-1")
        ended(home, job)
        assert follower.wait(PATIENCE_S) == 0
    finally:
        follower.kill()
        follower.wait()

    wanted = Counter(
        f"{attempt} {rank} {number}"
        for attempt in range(2)
        for rank in range(2)
        for number in range(LINES)
    )
    kept = home.run("jobs", "logs", job, "--raw", "--all-attempts").splitlines()
    assert Counter(kept) == wanted
    assert Counter(followed.read_text().splitlines()) == wanted
    for rank in range(2):
        one = home.run("jobs", "logs", job, "--raw", "--rank", str(rank)).splitlines()
        assert one == [f"1 {rank} {number}" for number in range(LINES)]


# What a container runtime might cut, change or lose. The two streams take different ways: hence the
# pause, without which a line of one may come in the middle of a long line of the other.
SPECIAL: Final = r"""
life=$(cat /gate/life 2>/dev/null || echo 0)
echo $((life + 1)) > /gate/life
echo to stderr >&2
sleep 2
echo "life $life"
printf 'unicode \303\244\342\202\254\360\237\220\247\n\n  indented\twith tabs  \n'
printf 'bytes \377\376\001\r end\n'
head -c 20000 /dev/zero | tr '\0' x; echo
head -c 300000 /dev/zero | tr '\0' y; echo
printf 'no end'
[ $life = 1 ]
"""


def special(life: int) -> list[bytes]:
    return [
        b"to stderr",
        b"life %d" % life,
        "unicode ä€🐧".encode(),
        b"",
        b"  indented\twith tabs  ",
        rb"bytes \xff\xfe" + b"\x01\r end",
        b"x" * 20_000,
        b"y" * 300_000,
        b"no end",
    ]


def test_lines_of_all_sorts_of_a_container_that_is_restarted_in_its_place(
    home: Installation, namespace: str, tmp_path: Path
) -> None:
    gate = Gate(tmp_path / "gate")
    jobset = ShellJobSet(
        "special", SPECIAL, gate=gate.folder, restart_policy="OnFailure", backoff_limit=5
    )
    job = jobset.submit(home, namespace, tmp_path)
    ended(home, job)
    command = [str(TRAINWAY), "jobs", "logs", job, "--raw"]
    printed = subprocess.run(command, env=home.environ(), stdout=subprocess.PIPE, check=True)
    assert printed.stdout.split(b"\n") == [*special(0), *special(1), b""]


def uptime() -> float:
    """Of this machine, and so of the pods."""
    return float(Path("/proc/uptime").read_text().split()[0])


TICKING: Final = """
until [ -e /gate/enough ]; do read up _ < /proc/uptime; echo $up; usleep 50000; done
"""


def test_a_line_is_soon_on_the_terminal(home: Installation, namespace: str, tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    job = ShellJobSet("ticking", TICKING, gate=gate.folder).submit(home, namespace, tmp_path)
    delays: deque[float] = deque(maxlen=50)  # the last ones: others may need the machine meanwhile
    deadline = time.monotonic() + PATIENCE_S
    with home.follow_logs(job, "--raw") as follower:
        assert follower.stdout is not None
        for line in follower.stdout:
            delays.append(uptime() - float(line))
            is_soon = len(delays) == 50 and median(delays) <= LATENCY_S
            if is_soon or time.monotonic() > deadline:
                break
        gate.open("enough")
        follower.stdout.read()
    assert follower.returncode == 0
    assert len(delays) == 50
    assert median(delays) <= LATENCY_S, delays


@dataclass(frozen=True)
class Keeping:
    """A keeper of its own for the pods of a JobSet that nobody else watches."""

    connection: Connection
    namespace: str
    folder: Path
    slots: Slots = field(default_factory=Slots)

    async def until_all_ended(self, pods: int, during: Callable[[], Awaitable[None]]) -> None:
        """Keep the logs of so many pods to their end, and do something meanwhile."""
        async with Client(self.connection) as client:
            keeper = LogKeeper(client, self.namespace, self.folder, self.slots)
            informer = Informer(client, PODS, namespaces=[self.namespace])
            ended: set[str] = set()
            all_ended = asyncio.Event()

            def on_change(change: Change) -> None:
                keeper.on_pod(change.object)
                if change.object["status"]["phase"] == "Succeeded":
                    ended.add(change.key)
                if len(ended) == pods:
                    all_ended.set()

            informer.add_handler(on_change)
            watching = asyncio.create_task(informer.run())
            async with asyncio.timeout(3 * PATIENCE_S):
                await during()
                await all_ended.wait()
                await keeper.finish()
            watching.cancel()
            await asyncio.wait({watching})

    async def wait_for(self, condition: Callable[[], bool]) -> None:
        """Wait until what is kept is so."""
        with DirectoryChanges(self.folder) as changes:
            while not condition():
                await changes.wait(asyncio.Event())

    def lines(self, rank: int) -> list[str]:
        found = self._file(rank).read_text().splitlines() if self.size(rank) else []
        return [line.split(" o ", 1)[1] for line in found]

    def size(self, rank: int) -> int:
        file = self._file(rank)
        return file.stat().st_size if file.exists() else 0

    def _file(self, rank: int) -> Path:
        return self.folder / f"node-0-{rank}.main.0.log"


def test_logs_that_cannot_all_be_followed_at_once_are_complete_too(
    node_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    script = "seq 100; while [ ! -e /gate/on ]; do usleep 50000; done; seq 101 200; printf end"
    gate = Gate(tmp_path / "gate")
    jobset = ShellJobSet("many", script, pods=3, gate=gate.folder)
    node_cluster.apply(jobset.manifest(), namespace=namespace)
    connection = load_connection(node_cluster.kubeconfig)
    slots = Slots(asyncio.Semaphore(1), asyncio.Semaphore(1))
    keeping = Keeping(connection, namespace, tmp_path / "logs", slots)

    async def let_on() -> None:
        await keeping.wait_for(lambda: all("100" in keeping.lines(rank) for rank in range(3)))
        gate.open("on")

    asyncio.run(keeping.until_all_ended(3, let_on))
    wanted = [str(number) for number in range(1, 201)] + ["end"]
    assert [keeping.lines(rank) for rank in range(3)] == [wanted] * 3


GROWING: Final = "for i in $(seq 3000); do echo $i $(printf %0$((i % 999))d 0); usleep 3000; done"
HALF: Final = 750_000
STEP: Final = 20_000
"""Bytes that are written between two cuts."""


def test_no_line_is_lost_or_doubled_however_often_connections_are_cut(
    node_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    server = urlsplit(node_cluster.server)
    assert server.hostname is not None
    assert server.port is not None
    with proxy_to(server.hostname, server.port) as proxy:
        config = yaml.safe_load(node_cluster.kubeconfig.read_text())
        for each in config["clusters"]:
            each["cluster"] |= {
                "server": f"https://127.0.0.1:{proxy.port}",
                "tls-server-name": server.hostname,
            }
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(yaml.safe_dump(config))
        jobset = ShellJobSet("cut", GROWING, pods=2)
        node_cluster.apply(jobset.manifest(), namespace=namespace)
        keeping = Keeping(load_connection(kubeconfig), namespace, tmp_path / "logs")

        def has(size: int) -> bool:
            return keeping.size(0) >= size

        async def cut() -> None:
            connections = 0
            while keeping.size(0) < HALF:
                await keeping.wait_for(partial(has, keeping.size(0) + STEP))
                connections += proxy.cut()
            assert connections >= 5

        asyncio.run(keeping.until_all_ended(2, cut))
    wanted = [f"{number} {'0' * max(1, number % 999)}" for number in range(1, 3001)]
    assert [keeping.lines(rank) for rank in range(2)] == [wanted] * 2
