"""The command line and the SDK with a pool of hosts, as users have them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from gate import Gate, opened
from installation import TIMEOUT_S, TRAINWAY
from ssh_pool import ON, SshPool, pool_of, until

from ssh_hosts import SshHosts

pytestmark = pytest.mark.xdist_group("ssh")

SCRIPT = """
import json
import os
import pathlib
import sys
import helper
print(helper.greeting, sys.argv[1:], os.uname().nodename)
pathlib.Path(os.environ["TRAINWAY_OUTPUT_DIR"], "model").write_text("trained")
"""
PROGRAM = """
import warnings
from trainway import Client


def total(numbers, more=0):
    import os
    print("on", os.uname().nodename)
    return {"total": sum(numbers) + more, "nowhere": b"1"}


job = Client().run(total, args=[[1, 2]], kwargs={"more": 4}, on="ssh/test")
print(job.result(timeout=250), [line.text for line in job.logs()])
"""
TASK = """
num_nodes: 2
workdir: project
envs: {WORD: hello}
setup: echo $WORD > made
run: |
  cat made data/file
  echo $SKYPILOT_NUM_NODES $(echo "$SKYPILOT_CLUSTER_INFO" | grep -o '"cloud": "ssh"')
  pwd | grep -c "$TRAINWAY_WORK_DIR"
"""


@pytest.fixture(scope="module")
def pool(ssh_hosts: SshHosts, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshPool]:
    """One for all tests that leave its configuration as it is."""
    with pool_of(ssh_hosts, tmp_path_factory.mktemp("pool") / "home") as made:
        yield made


@pytest.fixture
def gate() -> Iterator[Gate]:
    with opened() as made:
        yield made


def command(pool: SshPool, folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """A command in another folder than the repository."""
    return subprocess.run(
        [str(TRAINWAY), *words],
        cwd=folder,
        env=pool.environ(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )


def test_a_script_travels_with_its_modules(pool: SshPool, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "helper.py").write_text("greeting = 'hello'")

    done = command(pool, tmp_path, "run", "train.py", "--on", "ssh", "--", "--lr", "0.1")

    job = pool.job("train")
    (node,) = job["status"]["nodes"]
    said = f"node-0 | hello ['--lr', '0.1'] {node['host']}\n"
    assert (done.returncode, done.stdout) == (0, said), done.stderr
    assert "train.py and 1 module beside it travel to the hosts" in done.stderr
    assert Path(job["status"]["outputDir"], "model").read_text() == "trained"


def test_what_a_job_prints_and_its_tensorboard_files_are_metrics(pool: SshPool) -> None:
    from trainway.engine.metrics.sources.event_records_test import FILE  # noqa: PLC0415 - tests

    script = (
        "import os; from pathlib import Path; out = Path(os.environ['TRAINWAY_OUTPUT_DIR']); "
        f"(out / 'events.out.tfevents.1').write_bytes({FILE!r}); print('step 3 printed: 0.5')"
    )
    pool.run("run", "--on", ON, "--metrics-from-logs", "--name", "m", "--", "python3", "-c", script)
    found = pool.json("jobs", "metrics", "m")["series"]
    steps = {name: [one["step"] for one in points] for name, points in found.items()}
    assert steps == {"printed": [3], "loss": [1], "acc": [2]}


def test_the_value_of_a_function_comes_back(pool: SshPool, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)

    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=pool.environ(),
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("{'total': 7, 'nowhere': b'1'} ['on h")


def test_a_task_has_a_folder_of_its_own(pool: SshPool, tmp_path: Path) -> None:
    (tmp_path / "project" / "data").mkdir(parents=True)
    (tmp_path / "project" / "data" / "file").write_text("content\n")
    (tmp_path / "task.yaml").write_text(TASK)

    done = command(pool, tmp_path, "run", "task.yaml", "--on", ON)

    assert done.returncode == 0, done.stderr
    said = ["hello", "content", '2 "cloud": "ssh"', "1"]
    wanted = [f"node-{rank} | {line}" for rank in range(2) for line in said]
    assert sorted(done.stdout.splitlines()) == sorted(wanted)
    assert "image" not in done.stderr


def test_a_node_that_hangs_is_ended_and_blamed(pool: SshPool, gate: Gate) -> None:
    job = pool.submit_here("--hang-timeout", "8s", "--", *gate.command())
    gate.next()

    until(lambda: pool.phase(job) == "Failed", "it hangs on")
    summary = pool.job(job)["status"]["failure"]["summary"]
    assert summary.startswith("node-0 hung: no report and no line of a log for ")
    assert "visitor.py:" in pool.run("jobs", "stacks", job, "--attempt", "1")


def test_commands_run_beside_a_pod(pool: SshPool, gate: Gate) -> None:
    job = pool.submit_here("--nodes", "2", "--env", "MARK=a b", "--", *gate.command())
    _ = [gate.next() for _ in range(2)]
    host = pool.hosts_of(job)["node-0-1"].name
    words = ("sh", "-c", 'uname -n; echo "$MARK" $TRAINWAY_RANK')

    said = pool.run("jobs", "exec", job, "--rank", "1", "--", *words)
    assert said == f"{host}\na b 1\n"
    pool.run("jobs", "exec", job, "--", "sh", "-c", "exit 7", code=7)
    until(lambda: all("usage" in node for node in pool.job(job)["status"]["nodes"]), "no usage")
    (head,) = [line for line in pool.run("jobs", "show", job).splitlines() if "PEAK" in line]
    assert {"CPU", "MEMORY"} <= set(head.split())
    stacks = pool.run("jobs", "stacks", job, "--rank", "1")
    assert f"node-1 on {host}\n" in stacks
    assert "visitor.py:" in stacks

    pool.run("jobs", "suspend", job)
    until(lambda: pool.phase(job) == "Paused", "it is not suspended")
    pool.run("jobs", "exec", job, "--", "true", code=1)
    pool.run("jobs", "resume", job)
    for visitor in [gate.next() for _ in range(2)]:
        visitor.let_go()
    pool.run("jobs", "wait", job)


def checks(pool: SshPool) -> dict[str, Any]:
    shown = command(pool, pool.home, "doctor", "-o", "json")
    backends = {item["name"]: item for item in yaml.safe_load(shown.stdout)["backends"]}
    return {item["name"]: item for item in backends[ON]["checks"]}


def test_nodes_are_the_hosts_of_the_pool(ssh_pool: SshPool, gate: Gate) -> None:
    hosts = ssh_pool.hosts.hosts
    ssh_pool.configure(hosts[:2], {})
    found = ssh_pool.post("/backends/nodes", {"backend": ON})
    assert (found["problem"], [node["name"] for node in found["nodes"]]) == ("", ["h0", "h1"])
    assert all(node["cpus"] > 0 and not node["problem"] for node in found["nodes"])
    job = ssh_pool.submit("--on", ON, "--cpus", "1", "--", *gate.command())
    visitor = gate.next()
    until(lambda: ssh_pool.phase(job) == "Running", "the job does not run")

    def states() -> list[str]:
        return [
            node["state"] for node in ssh_pool.post("/backends/nodes", {"backend": ON})["nodes"]
        ]

    until(lambda: states() == ["up", "up"], "the hosts are not up")
    nodes = ssh_pool.post("/backends/nodes", {"backend": ON})["nodes"]
    (busy,) = [node for node in nodes if node["jobs"]]
    assert (busy["jobs"][0]["id"], busy["freeCpus"]) == (job, busy["cpus"] - 1)
    visitor.let_go()


def test_doctor_has_a_line_for_each_host(ssh_pool: SshPool) -> None:
    hosts = ssh_pool.hosts.hosts
    ssh_pool.configure(hosts, {})
    settings = yaml.safe_load((ssh_pool.home / "config.yaml").read_text())
    settings["pools"]["test"]["hosts"] = [
        "h0",
        {"host": "h1", "python": "python2.9"},
        {"host": hosts[2].address, "name": "h2", "options": ["-o", "UserKnownHostsFile=/dev/null"]},
        {"host": "h3", "user": "nobody"},
    ]
    (ssh_pool.home / "config.yaml").write_text(yaml.safe_dump(settings))

    found = checks(ssh_pool)

    assert found["host h0"]["ok"]
    assert found["host h0"]["detail"].startswith("Python 3.")
    said = {name: (item["detail"], item["fix"]) for name, item in found.items()}
    assert said["host h1"][0] == "there is no python2.9 on it"
    assert said["host h2"][0] == "its host key is not known here"
    assert said["host h3"][0] == "the login was refused (publickey)"
    assert all(fix for name, (_, fix) in said.items() if name != "host h0")


def test_a_host_behind_another_one_is_reached(ssh_pool: SshPool) -> None:
    gate, *_, behind = ssh_pool.hosts.hosts
    ssh_pool.configure([behind], {})
    settings = yaml.safe_load((ssh_pool.home / "config.yaml").read_text())
    settings["pools"]["test"]["options"] += ["-J", gate.name]
    (ssh_pool.home / "config.yaml").write_text(yaml.safe_dump(settings))

    said = ssh_pool.run("run", "--on", ON, "--", "uname", "-n")

    assert said == f"node-0 | {behind.name}\n"
    # The kernel writes addresses backwards.
    inverted = "".join(f"{int(part):02X}" for part in reversed(gate.address.split(".")))
    table = behind.run("cat", "/proc/net/tcp").splitlines()[1:]
    established = [line.split()[2] for line in table if line.split()[3] == "01"]
    assert inverted in {peer.partition(":")[0] for peer in established}


def test_what_is_wrong_with_the_configuration_is_one_error(ssh_pool: SshPool) -> None:
    path = ssh_pool.home / "config.yaml"
    path.write_text("pools: {test: {hosts: [{host: h0, prot: 22}]}}")
    for words in (("run", "--on", ON, "--", "true"), ("run", "--on", "ssh", "--", "true")):
        done = command(ssh_pool, ssh_pool.home, *words)
        assert done.returncode == 1
        assert done.stderr.splitlines() == [
            f'{path}: pools.test.hosts[0].prot: Unknown field: did you mean "port"?',
            f"hint: correct {path}",
        ]
    path.write_text("pools: {test: {hosts: [h0]}, other: {hosts: [h1]}}")
    done = command(ssh_pool, ssh_pool.home, "run", "--on", "ssh/tset", "--", "true")
    assert (done.returncode, done.stderr.splitlines()[1]) == (3, "hint: pools: ssh/test, ssh/other")
    assert 'did you mean "test"?' in done.stderr


def test_a_host_that_is_taken_out_gets_no_more_jobs(ssh_pool: SshPool, gate: Gate) -> None:
    hosts = ssh_pool.hosts.hosts
    ssh_pool.configure(hosts[:1], {})
    first = ssh_pool.submit_here("--", *gate.command("first"))
    runs = gate.next()
    ssh_pool.configure(hosts[1:2], {})
    second = ssh_pool.submit_here("--", *gate.command("second"))
    later = gate.next()
    assert [host.name for host in ssh_pool.hosts_of(first).values()] == ["h0"]
    assert [host.name for host in ssh_pool.hosts_of(second).values()] == ["h1"]
    runs.let_go()
    later.let_go()
    ssh_pool.run("jobs", "wait", first, second)


@pytest.fixture
def agent_socket(ssh_pool: SshPool, tmp_path: Path) -> Iterator[Path]:
    """An ssh-agent that has the key, which ssh then finds nowhere else."""
    socket = tmp_path / "agent"
    lines = ssh_pool.hosts.config.read_text().splitlines()
    (key,) = {line.split()[1] for line in lines if "IdentityFile" in line}
    kept = [line for line in lines if not line.strip().startswith("Identit")]
    config = tmp_path / "config"
    config.write_text("\n".join([*kept, "  IdentityFile none", ""]))
    settings = yaml.safe_load((ssh_pool.home / "config.yaml").read_text())
    settings["pools"]["test"]["options"] = ["-F", str(config)]
    (ssh_pool.home / "config.yaml").write_text(yaml.safe_dump(settings))
    with subprocess.Popen(
        ["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL
    ) as made:
        until(socket.exists, "the ssh-agent does not listen")
        subprocess.run(
            ["ssh-add", "-q", key], env={**os.environ, "SSH_AUTH_SOCK": str(socket)}, check=True
        )
        yield socket
        made.terminate()


def test_the_agent_of_the_last_shell_is_used(ssh_pool: SshPool, agent_socket: Path) -> None:
    job = ssh_pool.submit_here("--", "true")
    ssh_pool.run("jobs", "wait", job, code=4)
    shown = ssh_pool.run("jobs", "show", job)
    assert "the login was refused" in shown
    assert "(ssh-add -l)" in shown
    shell = SshPool(ssh_pool.home, {"SSH_AUTH_SOCK": str(agent_socket)}, hosts=ssh_pool.hosts)

    said = shell.run("run", "--on", ON, "--", "echo", "in")

    assert said == "node-0 | in\n"


def test_places_say_whether_a_job_fits_and_one_is_chosen(pool: SshPool) -> None:
    found = json.loads(
        pool.run("plan", "-o", "json", "--on", f"local,{ON}", "--nodes", "2", "--", "hostname")
    )
    offers = {offer["place"]: offer for offer in found["offers"]}
    assert (found["chosen"], offers[ON]["fit"]) == ("local", "now")
    cores = str((os.cpu_count() or 1) + 1)
    refused = pool.run("plan", "-o", "json", "--on", f"local,{ON}", "--nodes", "2", "--cpus", cores,
                       "--", "true", code=1)  # fmt: skip
    reasons = {offer["place"]: offer["reason"] for offer in json.loads(refused)["offers"]}
    assert reasons["local"].startswith("it needs ")
    assert reasons[ON].startswith("no node there has room for ")
    printed = pool.run("run", "--on", f"ssh/nowhere,{ON}", "--", "hostname")
    assert printed.startswith("node-0 | ")
