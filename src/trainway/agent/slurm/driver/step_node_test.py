"""What one pod of several may write to a directory that all of them share."""

from pathlib import Path

from trainway.agent.base.clock import Clock
from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.base.journal import Journal
from trainway.agent.base.plan import Plan
from trainway.agent.host.machine import Machine
from trainway.agent.kubelet.processes import ProcessTable
from trainway.agent.slurm.driver.step_node import StepNode
from trainway.json_types import Json

ROLES: list[Json] = [
    {"name": "launcher"},
    {
        "name": "node",
        "replicas": 2,
        "template": {"spec": {"parallelism": 4, "completions": 4, "completionMode": "Indexed"}},
    },
]


def test_each_pod_has_its_share_of_what_logs_may_take(tmp_path: Path) -> None:
    jobset = {"metadata": {"name": "js"}, "spec": {"replicatedJobs": ROLES}}
    plan = Plan({"version": 1, "id": "i", "name": "js", "jobset": jobset, "logs": {"limit": 9_000}})
    directory = Directory(str(tmp_path))
    for name in ("logs", "home"):
        directory.make(name)
    for name, length in (("node-1-1.main.0", 300), ("node-1-10.main.0", 5_000)):
        (tmp_path / "logs" / f"{name}.log").write_bytes(b"x" * length)
    loop, clock = EventLoop(), Clock()
    home = Directory(str(tmp_path / "home"))
    machine = Machine(home, loop, ProcessTable(loop), clock, {})
    node = StepNode(plan, directory, machine, Journal(directory, clock.now), "7.0", "uid")
    node.share_logs("node-1-1")
    assert node.log_limit.room == 9_000 // 9 - 300
