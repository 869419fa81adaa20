"""Where a node writes logs, and how much."""

import os
from pathlib import Path

from trainway.agent.base.clock import Clock
from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.base.journal import Journal
from trainway.agent.base.plan import Plan
from trainway.agent.kubelet.log_writer import STDOUT
from trainway.agent.kubelet.node import Node
from trainway.agent.kubelet.processes import ProcessTable


def node(path: Path, limit: int) -> Node:
    """What an agent has that begins with a job, or goes on with it."""
    data = {"version": 1, "id": "i", "name": "js", "jobset": {}, "logs": {"limit": limit}}
    directory = Directory(str(path))
    directory.make("logs")
    loop, clock = EventLoop(), Clock()
    journal = Journal(directory, clock.now)
    return Node(Plan(data), directory, loop, ProcessTable(loop), journal, clock)


def test_the_next_agent_counts_what_an_earlier_one_wrote(tmp_path: Path) -> None:
    first = node(tmp_path, 1000).open_log("node-0-0.main.0")
    for _ in range(20):
        first.feed(STDOUT, b"0123456789\n")
    later = node(tmp_path, 1000)
    second = later.open_log("node-0-0.main.1")
    for _ in range(20):
        second.feed(STDOUT, b"0123456789\n")
    sizes = [path.stat().st_size for path in sorted((tmp_path / "logs").iterdir())]
    notice = (tmp_path / "logs" / "node-0-0.main.1.log").read_bytes().splitlines()[-1]
    assert b"have reached their limit of 1 kB" in notice
    assert 1000 - 41 < sum(sizes) - len(notice) - 1 <= 1000
    journal = (tmp_path / "journal.jsonl").read_text()
    assert journal.count("LogLimitReached") == 1


def test_a_log_that_is_a_pipe_or_a_link_is_not_written(tmp_path: Path) -> None:
    here = node(tmp_path, 1000)
    os.mkfifo(tmp_path / "logs" / "pipe.log")
    (tmp_path / "elsewhere").touch()
    (tmp_path / "logs" / "link.log").symlink_to("../elsewhere")
    for name in ("pipe", "link"):
        log = here.open_log(name)
        log.feed(STDOUT, b"text\n")
        assert log.dropped > 0
    assert (tmp_path / "elsewhere").read_bytes() == b""
    assert (tmp_path / "journal.jsonl").read_text().count("LogsDropped") == 1
