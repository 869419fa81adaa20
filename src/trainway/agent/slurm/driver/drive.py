"""`slurm drive JOBDIR --role NAME srun ...`: be the batch script of a job.

The exit status tells Slurm how the job ended: 0 where it completed, 1 where it failed, 75 where a
newer attempt of it has begun and this one counts no more.
"""

from __future__ import annotations

import json
import os
import time

from trainway.agent.base.clock import Clock
from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.base.own_program import agent_program
from trainway.agent.base.plan import Plan, PlanError
from trainway.agent.host.step_environment import step_environment
from trainway.agent.slurm import hosts
from trainway.agent.slurm.allocation import AllocationError, parts, places
from trainway.agent.slurm.commands import Commands, clean_environment
from trainway.agent.slurm.driver.driver import Driver
from trainway.agent.slurm.driver.peers import peers_of, write_peers
from trainway.agent.slurm.driver.step_pods import Ground
from trainway.agent.slurm.fencing import DriverLease, GuardedJournal, StaleError, Token
from trainway.agent.slurm.files.job_files import TAKEN
from trainway.agent.slurm.sick_nodes import sick_nodes
from trainway.agent.slurm.srun import NODE_VARIABLE, ScriptError, lines
from trainway.agent.supervisor.recovery import Remembered
from trainway.agent.transfer.job_place import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trainway.json_types import Json


EXIT_FAILED, EXIT_USAGE, EXIT_STALE = 1, 2, 75
FOLDERS = ("logs", "output", "volumes", "pods", "steps")
PAUSE = 0.2


def main(arguments: Sequence[str]) -> int:
    """Run the job; the exit status."""
    if not arguments:
        os.write(2, b"usage: slurm drive JOBDIR --role NAME srun ...\n")
        return EXIT_USAGE
    path, *words = arguments
    try:
        return drive(opened(os.path.abspath(path)), words, os.environ)
    except StaleError as error:
        os.write(2, f"{error}\n".encode())
        return EXIT_STALE
    except (AllocationError, PlanError, ScriptError, OSError, KeyError, ValueError) as error:
        os.write(2, f"the job cannot be driven: {error}\n".encode())
        return EXIT_FAILED


def drive(directory: Directory, words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Take the job over, and see it to its end or to that of the allocation."""
    data: Json = json.loads(directory.read("plan.json"))
    plan = Plan(data)
    settings: Json = data.get("slurm") or {}
    token = Token.of(environ)
    if not token.job:
        raise AllocationError("this is not a Slurm job: SLURM_JOB_ID is not set")
    lease = DriverLease(directory, token)
    lease.claim()
    for name in FOLDERS:
        directory.make(name)
    ground = survey(plan, settings, words, environ)
    ground.sick = set(sick_nodes(directory))
    write_peers(directory, ground.peers)
    _wait(lease)
    clock = Clock()
    journal = GuardedJournal(directory, clock.now, lease)
    remembered = Remembered(journal.records) if journal.records else None
    if remembered is not None and remembered.ended:
        return 0 if remembered.status.get("terminalState") == "Completed" else EXIT_FAILED
    journal.records = []
    loop = EventLoop()
    commands = Commands(loop, clean_environment(environ))
    driver = Driver(plan, lease, ground, loop, journal, clock, commands)
    try:
        driver.start(remembered)
        loop.run()
    except StaleError:
        driver.give_way()
        if ground.is_apart:
            _remove(directory)  # nobody will ask for it
        raise
    except Exception as error:
        driver.fail(f"the driver failed: {error!r}")
        raise
    if ground.is_apart and os.path.exists(directory.join(TAKEN)):
        _remove(directory)
    return driver.status


def _remove(directory: Directory) -> None:
    from trainway.agent.transfer.parcel import remove  # noqa: PLC0415 - few clusters need it

    remove(directory.path)


def survey(plan: Plan, settings: Json, words: Sequence[str], environ: Mapping[str, str]) -> Ground:
    """Find out what Slurm gave the job, and where its pods go."""
    output = hosts.run(environ)
    found = parts(environ, lambda listed: hosts.hostnames(listed, output))
    nodes = [node for part in found for node in part.nodes]
    ground = Ground(
        lines(words),
        places(plan, settings.get("roles") or {}, found),
        hosts.addresses(nodes, environ.get(NODE_VARIABLE, ""), output),
        step_environment(environ),
        agent_program(),
    )
    ground.requeues = bool(settings.get("requeue", True))
    ground.annex = [str(word) for word in settings.get("annex") or ()]
    ground.own = environ.get(NODE_VARIABLE, "")
    if "SLURM_HET_SIZE" in environ:
        ground.groups = {node: group for group, part in enumerate(found) for node in part.nodes}
    ground.peers = _peers(plan, ground)
    ground.is_apart = not settings.get("shared", True)
    if ground.is_apart:
        from trainway.agent.slurm.driver.watchdog import limit_of  # noqa: PLC0415 - the same

        ground.silence = limit_of(output(("scontrol", "show", "config")))
    return ground


def _peers(plan: Plan, ground: Ground) -> Json:
    pods: dict[str, Json] = {}
    for key, node in ground.places.items():
        address, group = ground.addresses.get(node, ""), ground.groups.get(node)
        pods[key] = {"host": node, "address": address, "group": group}
    return peers_of(plan.name, pods, ground.environ, ground.agent)


def _wait(lease: DriverLease) -> None:
    """Let everything of an earlier attempt end first, wherever it runs."""
    claimed = time.monotonic()
    while time.monotonic() - claimed < lease.wait_seconds():
        time.sleep(PAUSE)
