"""A real Slurm on this machine: one controller and several nodes, in a temporary folder.

Two clusters may run beside each other. README.md has the details.
"""

import os
import re
import secrets
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final

from janitor import cgroups_of, remove_cgroups
from machine import Plug
from machine_room import MachineRoom
from patience import PATIENCE_S, until
from slurm_configuration import NODE_PORT, Accounting, Place, Shape, files_of
from slurm_database import start_database
from slurm_machine import DaemonMachine, Node
from slurm_ports import LOOPBACK, answers, free_ports
from slurm_requirements import require_programs

FIRST_NUMBER: Final = 11
ENDED: Final = frozenset(
    {
        "BOOT_FAIL",
        "CANCELLED",
        "COMPLETED",
        "DEADLINE",
        "FAILED",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "PREEMPTED",
        "TIMEOUT",
    }
)


class SlurmCluster(MachineRoom):
    """A controller and its nodes, and what it takes to talk to them."""

    def __init__(
        self,
        nodes: int = 4,
        *,
        gpus: int = 0,
        accounting: Accounting = "none",
        namespaces: bool = False,
        preemption: bool = False,
        grace_s: int = 0,
        memory_limits: bool = False,
        rest: bool = False,
        down_after_s: int = 5,
        forget_after_s: int = 300,
        shared: bool = True,
    ) -> None:
        self.shape = Shape(
            nodes=nodes,
            gpus=gpus,
            accounting=accounting,
            namespaces=namespaces,
            preemption=preemption,
            grace_s=grace_s,
            memory_limits=memory_limits,
            rest=rest,
            down_after_s=down_after_s,
            forget_after_s=forget_after_s,
            shared=shared,
        )
        require_programs(self.shape)
        self.name = f"s{secrets.token_hex(2)}"
        super().__init__("slurm-", 0o755, cgroups=self.name)
        self.work = self.folder / "work"
        """Where jobs write what they print; all nodes see it, whatever else they share."""
        self.nodes: list[Node] = []
        self.controller = DaemonMachine("", self.folder)
        with self.starting():
            self._start()

    def __getitem__(self, index: int) -> Node:
        return self.nodes[index]

    @property
    def conf(self) -> Path:
        """The slurm.conf."""
        return self.folder / "slurm.conf"

    @property
    def environment(self) -> dict[str, str]:
        """The variables that programs of Slurm need to find this cluster."""
        return {"SLURM_CONF": str(self.conf)}

    @property
    def interface(self) -> str:
        """What this machine sees of the network of the nodes."""
        return self._switch.interface if self._switch else "lo"

    @property
    def machines(self) -> Sequence[DaemonMachine]:
        """The controller and the nodes."""
        return (self.controller, *self.nodes)

    @property
    def rest_url(self) -> str:
        """Where slurmrestd answers; ask `token()` for what it wants to see."""
        return f"http://{LOOPBACK}:{self._rest_port}"

    def named(self, name: str) -> Node:
        """The node of that name."""
        return next(node for node in self.nodes if node.name == name)

    # What runs

    def run(self, *command: str, text: str = "", timeout_s: float = PATIENCE_S) -> str:
        """What a program of Slurm prints, or any other that needs the cluster."""
        done = self.attempt(*command, text=text, timeout_s=timeout_s)
        assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def attempt(
        self, *command: str, text: str = "", timeout_s: float = PATIENCE_S
    ) -> subprocess.CompletedProcess[str]:
        """The same for a command that may fail; `srun` may also hang, and is ended then."""
        return subprocess.run(
            ["timeout", "--kill-after=5", str(timeout_s), *command],
            cwd=self.work,
            env={**without_slurm(os.environ), **self.environment},
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )

    def submit(self, script: str, *options: str) -> int:
        """The number of a new batch job. What it prints is in `output(job)`."""
        if not script.startswith("#!"):
            script = f"#!/bin/sh\n{script}\n"
        printed = self.run("sbatch", "--parsable", *options, text=script)
        return int(printed.split(";")[0])

    def output(self, job: int) -> str:
        """What a batch job printed so far, unless it said where to."""
        path = self.work / f"slurm-{job}.out"
        return path.read_text(errors="replace") if path.exists() else ""

    def facts(self, job: int) -> dict[str, str]:
        """What the controller knows of a job: JobState, Reason, Restarts, NodeList, ExitCode..."""
        line = self.run("scontrol", "--oneliner", "show", "job", str(job)).splitlines()[0]
        return dict(re.findall(r"(\S+?)=(\S*)", line))

    def wait_for_state(self, job: int, *states: str, patience_s: float = PATIENCE_S) -> str:
        """Wait until a job is in one of the states; fail at once if it ends in another."""
        deadline = time.monotonic() + patience_s
        while (state := (facts := self.facts(job))["JobState"]) not in states:
            assert state not in ENDED, f"job {job}: {facts}\n{self.output(job)}"
            assert time.monotonic() < deadline, f"job {job}: {facts}\n{self.output(job)}"
            time.sleep(0.1)
        return state

    def wait_for_end(self, job: int, patience_s: float = PATIENCE_S) -> str:
        """Wait until a job has ended; how it did."""
        return self.wait_for_state(job, *ENDED, patience_s=patience_s)

    def accounts(self, job: int) -> list[dict[str, str]]:
        """What sacct says of a job and its steps: JobID, State, ExitCode, NodeList."""
        fields = ["JobID", "State", "NodeList"]
        kind = ["-c"] if self.shape.accounting == "text" else []
        fields += [] if kind else ["ExitCode", "MaxRSS"]
        command = ["sacct", *kind, "-n", "-P", "-j", str(job), "-o", ",".join(fields)]
        lines = self.run(*command).splitlines()
        return [dict(zip(fields, line.split("|"), strict=True)) for line in lines]

    def token(self, lifespan_s: int = 600) -> str:
        """What slurmrestd wants to see in X-SLURM-USER-TOKEN."""
        printed = self.run("scontrol", "token", f"lifespan={lifespan_s}")
        return printed.strip().partition("=")[2]

    # What goes wrong

    def node_states(self) -> dict[str, str]:
        """The state of each node by its name, such as idle, alloc, down*."""
        lines = self.run("sinfo", "-h", "-N", "-p", "main", "-o", "%N %t").splitlines()
        return dict(line.split(" ", 1) for line in lines)

    def wait_for_node(self, index: int, *states: str, patience_s: float = PATIENCE_S) -> str:
        """Wait until a node is in one of the states."""
        name = self[index].name
        until(
            lambda: self.node_states()[name] in states,
            f"{name} does not become {' or '.join(states)}",
            patience_s,
        )
        return self.node_states()[name]

    def kill_node(self, index: int) -> None:
        """Kill slurmd, stepd and tasks with SIGKILL. Slurm finds out by itself."""
        self[index].halt()

    def start_node(self, index: int) -> None:
        """Start a node that was killed; it is not yet known to the controller."""
        node = self[index]
        remove_cgroups(node.name)
        node.power()
        node.boot()
        self._start_slurmd(node)

    def cut(self, index: int) -> None:
        """Pull the cable of a node: what runs there goes on, and nobody hears of it."""
        self[index].cut()

    def heal(self, index: int) -> None:
        """Put the cable back."""
        self[index].heal()

    def declare_down(self, index: int) -> None:
        """Say what Slurm would find out later: the node is gone; its jobs are requeued."""
        name = self[index].name
        self.run("scontrol", "update", f"NodeName={name}", "State=DOWN", "Reason=test")

    def preempt(self, job: int) -> int:
        """Take the nodes of a job of the partition `low`; the job that does it."""
        nodes = self.facts(job)["NodeList"]
        return self.submit("exec sleep 1000", "-p", "high", "-w", nodes, "--exclusive")

    def expire(self, job: int, in_s: int) -> None:
        """Let the time of a running job end soon; limits themselves are whole minutes."""
        end = datetime.now() + timedelta(seconds=in_s)  # noqa: DTZ005 (Slurm speaks local time)
        when = end.isoformat(timespec="seconds")
        self.run("scontrol", "update", f"JobId={job}", f"EndTime={when}")

    def stop_controller(self) -> None:
        """End slurmctld; nodes and jobs go on. With SIGKILL it would forget its last 5 s."""
        self.controller.end("slurmctld")

    def start_controller(self) -> None:
        """Start slurmctld; it goes on where it was."""
        command = ["slurmctld", "-D", "-f", str(self.conf)]
        self.controller.start(*command)
        port = self.place.port
        self._until(lambda: answers(port), "slurmctld")

    def clear(self) -> None:
        """End all jobs and repair all nodes, for the next test."""
        self.attempt("scancel", "--full", "--user=root")
        for index, node in enumerate(self.nodes):
            if not node.is_on:
                self.start_node(index)
            elif self._switch:
                self.heal(index)
        self._resume()
        self.wait_until_empty()
        until(
            lambda: self._is_idle() or self._resume(),
            "the nodes are not repaired",
            said=lambda: "".join(node.said("slurmd") for node in self.nodes),
        )

    def wait_until_empty(self) -> None:
        """Wait until the queue holds no job, not even one that is being cleaned up."""
        until(lambda: not self.run("squeue", "-h"), "jobs do not end")

    def wait_until_idle(self) -> None:
        """Wait until all nodes are free."""
        until(
            self._is_idle,
            "the nodes are not ready",
            said=lambda: "".join(node.said("slurmd") for node in self.nodes),
        )

    def _is_idle(self) -> bool:
        return set(self.node_states().values()) == {"idle"}

    def _resume(self) -> bool:
        """Have Slurm use nodes again that it has given up; whether they are idle is seen later."""
        names = ",".join(node.name for node in self.nodes)
        self.attempt("scontrol", "update", f"NodeName={names}", "State=RESUME")
        return False

    def close(self) -> None:
        """End everything and leave nothing behind, whatever fails on the way."""
        super().close()
        assert not cgroups_of(self.name), "cgroups are still in use"

    # How it starts

    def _start(self) -> None:
        shape = self.shape
        if shape.namespaces:
            self.need_network()
        self.place = self._find_place()
        self._rest_port = free_ports(1)[0] if shape.rest else 0
        self._write_files()
        self.nodes = [self._new_node(index) for index in range(shape.nodes)]
        for machine in self.machines:
            machine.power()
        self.controller.boot()
        self._start_munge()
        if shape.accounting == "slurmdbd":
            start_database(self.controller, self.place)
        self.start_controller()
        for node in self.nodes:
            node.boot()
            self._start_slurmd(node)
        self.wait_until_idle()
        if shape.rest:
            self._start_rest()

    def _find_place(self) -> Place:
        count = self.shape.nodes
        address, addresses = LOOPBACK, [LOOPBACK] * count
        controller, database, *ports = free_ports(2 + count)
        if self._switch:
            address = self._switch.address(1)
            addresses = [self._switch.address(FIRST_NUMBER + index) for index in range(count)]
            ports = [NODE_PORT] * count
        return Place(
            self.name,
            self.folder,
            socket.gethostname(),
            address,
            controller,
            database,
            tuple(ports),
            tuple(addresses),
        )

    def _write_files(self) -> None:
        shape, place, folder = self.shape, self.place, self.folder
        for name in ("state", "pmix", "work", "dev"):
            (folder / name).mkdir()
        for name, text in files_of(shape, place).items():
            (folder / name).write_text(text)
        for name in ("munge.key", "state/jwt.key"):
            (folder / name).touch(mode=0o600)
            (folder / name).write_bytes(secrets.token_bytes(128))
        for index in range(shape.gpus):
            os.mknod(folder / "dev" / f"nvidia{index}", 0o020666, os.makedev(1, 3))

    def _new_node(self, index: int) -> Node:
        name = self.place.node(index)
        folder = self.folder / name
        for inner in ("spool", "tmp", "pmix"):
            (folder / inner).mkdir(parents=True)
        (folder / "tmp").chmod(0o1777)
        mounts = [str(self.folder / "hosts"), "/etc/hosts", "tmpfs", "/dev/shm"]  # noqa: S108
        mounts += [str(folder / "pmix"), str(self.folder / "pmix")]
        if not self.shape.shared:
            mounts += self._hidden_files(folder / "tmp")
        number = FIRST_NUMBER + index
        plug = Plug(self._switch, f"n{number}", number) if self._switch else None
        return Node(name, folder, mounts, plug)

    def _hidden_files(self, own: Path) -> list[str]:
        """What has a node see a folder of its own in the place of all temporary files but ours."""
        everything, passage = str(self.folder.parent), "/mnt"
        (own / self.folder.name).mkdir()
        return [str(self.folder), passage, str(own), everything, passage, str(self.folder)]

    def _start_munge(self) -> None:
        socket_path = self.folder / "munge.socket"
        command = ["munged", "--foreground", f"--socket={socket_path}"]
        command += [f"--key-file={self.folder}/munge.key", f"--pid-file={self.folder}/munged.pid"]
        command += [f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munge.seed"]
        self.controller.start(*command)
        self._until(socket_path.exists, "munged")

    def _start_slurmd(self, node: Node) -> None:
        node.start("slurmd", "-D", "-N", node.name, "-f", str(self.conf), env=self.environment)

    def _start_rest(self) -> None:
        env = {**self.environment, "SLURMRESTD_SECURITY": "disable_user_check", "SLURM_JWT": ""}
        plugins = "openapi/v0.0.38"
        if self.shape.accounting == "slurmdbd":  # it ends at once without one
            plugins += ",openapi/dbv0.0.38"
        command = ["slurmrestd", "-a", "rest_auth/jwt", "-s", plugins, "-f", str(self.conf)]
        self.controller.start(*command, f"{LOOPBACK}:{self._rest_port}", env=env)
        self._until(lambda: answers(self._rest_port), "slurmrestd")

    def _until(self, condition: Callable[[], bool], daemon: str) -> None:
        said = partial(self.controller.said, daemon)
        until(condition, f"{daemon} does not start", said=said)


def without_slurm(variables: os._Environ[str]) -> dict[str, str]:
    """The variables without those of an allocation that the tests may themselves run in."""
    return {name: value for name, value in variables.items() if not name.startswith("SLURM_")}
